import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '../../base/clock.ts';
import { makeFolder, syncFolder, writeDurably } from '../../base/durable.ts';
import { namesIn } from '../../base/json-file.ts';
import type { AttemptReport } from '../runner.ts';

/** What must outlive this process of an attempt that was handed to Ray. */
export interface AttemptRecord {
  readonly format: 1;
  readonly id: string;
  /** Its submission id at Ray: the same, but for an id that was used before. */
  readonly submission: string;
  readonly log: string;
  /** As Ray was given it. */
  readonly entrypoint: string;
  /** On its way to Ray, or there: what has no answer may still be taken. */
  readonly sent?: boolean;
  /** Ray has answered for it. */
  readonly accepted?: boolean;
  /** When it was first seen running: Ray keeps the time of the submission only. */
  readonly startedAt?: Instant;
  readonly stopAsked?: boolean;
  /** It is over and its output is here. */
  readonly end?: AttemptReport;
  /** Only Ray still has to let go of it. */
  readonly forgotten?: boolean;
}

/** So many forgotten ids are remembered, and up to as many more. */
const mostUsed = 50_000;

/**
 * One file an attempt, and the ids of those forgotten. An id that comes again, because its job was deleted and submitted
 * anew, gets a name of its own: Ray leaves the log of a deleted job on the disk of its node and would append to it, and
 * what still looks after the old job would take the end of the old for that of the new.
 *
 * The last whole line of a file counts. Of one whose end a power cut or a full disk has damaged the line before does,
 * and what that does not know yet Ray tells again.
 */
export class AttemptRecords {
  readonly #folder: string;
  readonly #setAside: (path: string, why: Error) => void;
  readonly #mostUsed: number;
  readonly #used = new Map<string, number>();
  #usedLines = 0;

  /** `setAside` hears of every file that could not be read, under its new name. */
  constructor(folder: string, setAside: (path: string, why: Error) => void, most = mostUsed) {
    this.#folder = makeFolder(join(folder, 'ray-attempts'));
    this.#setAside = setAside;
    this.#mostUsed = most;
    this.#trimUsed();
  }

  /** The name to submit an attempt under that has no record. */
  submissionOf(id: string): string {
    const times = this.#used.get(id) ?? 0;
    return times === 0 ? id : `${id}-${times + 1}`;
  }

  all(): AttemptRecord[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .flatMap((name) => this.#read(join(this.#folder, name)) ?? []);
  }

  /** With `lasting`, a power cut right after it does not undo it. */
  write(record: AttemptRecord, lasting = false): void {
    const path = this.#file(record.submission);
    const isNew = lasting && !existsSync(path);
    const file = openSync(path, 'a', 0o600);
    try {
      // Begins with the line end: a full disk may have left half a line.
      writeFileSync(file, `\n${JSON.stringify(record)}`);
      if (lasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncFolder(this.#folder);
  }

  /** Its id is free for another attempt from here on. */
  forget(record: AttemptRecord): void {
    this.#used.set(record.id, (this.#used.get(record.id) ?? 0) + 1);
    appendFileSync(this.#usedFile, `${record.id}\n`, { mode: 0o600 });
    this.#usedLines += 1;
    if (this.#usedLines >= 2 * this.#mostUsed) this.#trimUsed();
    this.write({ ...record, forgotten: true });
  }

  remove({ submission }: AttemptRecord): void {
    rmSync(this.#file(submission), { force: true });
  }

  #read(path: string): AttemptRecord | undefined {
    try {
      const record = lastWhole(readFileSync(path, 'utf8'));
      const place = this.#file(record.submission);
      if (place !== path) renameSync(path, place);
      return record;
    } catch (error) {
      const aside = `${path}.bad`;
      renameSync(path, aside);
      this.#setAside(aside, error as Error);
      return undefined;
    }
  }

  #trimUsed(): void {
    const known = readLines(this.#usedFile);
    const lines = known.slice(-this.#mostUsed);
    if (lines.length < known.length) writeDurably(this.#usedFile, lines.map((line) => `${line}\n`).join(''));
    this.#usedLines = lines.length;
    this.#used.clear();
    for (const id of lines) this.#used.set(id, (this.#used.get(id) ?? 0) + 1);
  }

  get #usedFile(): string {
    return join(this.#folder, 'used');
  }

  #file(submission: string): string {
    return join(this.#folder, `${fileName(submission)}.json`);
  }
}

/** Apart from others however long it is, and on file systems that ignore case. */
function fileName(submission: string): string {
  if (/^[a-z0-9_][a-z0-9._-]{0,149}$/.test(submission)) return submission;
  const hash = createHash('sha256').update(submission).digest('hex').slice(0, 16);
  return `${submission.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 80)}~${hash}`;
}

function lastWhole(text: string): AttemptRecord {
  // A power cut may leave zeros in place of what was written last.
  const found = text.split(/[\n\0]/).findLast((line) => isRecord(read(line)));
  if (found === undefined) throw new Error('it holds no whole record');
  return read(found) as AttemptRecord;
}

function isRecord(value: unknown): value is AttemptRecord {
  const { format, id, submission, log } = (value ?? {}) as Partial<AttemptRecord>;
  return format === 1 && [id, submission, log].every((each) => typeof each === 'string');
}

function read(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
