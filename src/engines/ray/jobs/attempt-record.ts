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
import { makeFolder, syncFolder, writeDurably } from '../../../base/files/durable.ts';
import { namesIn } from '../../../base/files/json-file.ts';
import type { Instant } from '../../../base/time/clock.ts';
import type { NamedSlice } from '../../../core/placement/slices.ts';
import type { AttemptReport } from '../../runner.ts';
import { rayAttempts } from '../names.ts';
import type { JobInfo } from './job-info.ts';

/** What must outlive this process of an attempt that was handed to Ray. */
export interface AttemptRecord {
  readonly format: 1;
  readonly id: string;
  /** Its submission id at Ray. */
  readonly submission: string;
  readonly log: string;
  /** As Ray was given it last. */
  readonly entrypoint: string;
  /** As it was given before: a version of Manta may have tried in other words, and a try without an answer may have come there. */
  readonly earlierEntrypoints?: readonly string[];
  /** Names of its packages that are kept on disk for it: they are too large for Ray's store. */
  readonly archives?: readonly string[];
  /** On its way to Ray, or there: what has no answer may still be taken. */
  readonly sent?: boolean;
  /** Ray has answered for it. */
  readonly accepted?: boolean;
  /** When it was first seen running: Ray keeps the time of the submission only. */
  readonly startedAt?: Instant;
  readonly stopAsked?: boolean;
  /** Those that a job across slices has, whole, until it is over. */
  readonly slices?: readonly NamedSlice[];
  /** It is over and its output is here. */
  readonly end?: AttemptReport;
  /** Only Ray still has to let go of it. */
  readonly forgotten?: boolean;
}

/** Whether the job that Ray has under the attempt's name is the attempt, and not one that somebody else gave that name. */
export const isOf = ({ entrypoint, earlierEntrypoints = [] }: AttemptRecord, info: JobInfo): boolean =>
  info.entrypoint === undefined || [entrypoint, ...earlierEntrypoints].includes(info.entrypoint);

/** So many forgotten names are remembered, and up to as many more. */
const mostUsed = 50_000;

/**
 * One file an attempt, and the names of those forgotten. A name that comes again, because its job was deleted and submitted
 * again, is not given twice: Ray leaves the log of a deleted job on the disk of its node and would append to it, and
 * what still looks after the old job would take the end of the old for that of the new.
 *
 * The last whole line of a file counts. Of one whose end a power cut or a full disk has damaged the line before does,
 * and what that does not know yet Ray tells again.
 */
export class AttemptRecords {
  readonly #folder: string;
  readonly #setAside: (path: string, why: Error) => void;
  readonly #mostUsed: number;
  readonly #used = new Set<string>();
  #usedLines = 0;

  /** `setAside` hears of every file that could not be read, under its new name. */
  constructor(folder: string, setAside: (path: string, why: Error) => void, most = mostUsed) {
    this.#folder = makeFolder(join(folder, rayAttempts));
    this.#setAside = setAside;
    this.#mostUsed = most;
    this.#trimUsed();
  }

  /** The name to submit an attempt under: the one that is wanted, or that with the first number behind it that is free. */
  freeName(wanted: string, isTaken: (name: string) => boolean): string {
    return firstFree(wanted, (name) => this.#used.has(name) || isTaken(name));
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

  /** The name is never given again. */
  use(submission: string): void {
    this.#used.add(submission);
    appendFileSync(this.#usedFile, `${submission}\n`, { mode: 0o600 });
    this.#usedLines += 1;
    if (this.#usedLines >= 2 * this.#mostUsed) this.#trimUsed();
  }

  /** Its id is free for another attempt from here on. */
  forget(record: AttemptRecord): void {
    this.use(record.submission);
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
    // Before each name stood there once, a line was an id, and the second time it stood for the name that ends in 2.
    for (const line of lines) this.#used.add(firstFree(line, (name) => this.#used.has(name)));
  }

  get #usedFile(): string {
    return join(this.#folder, 'used');
  }

  #file(submission: string): string {
    return join(this.#folder, `${fileName(submission)}.json`);
  }
}

function firstFree(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  for (let number = 2; isTaken(name); number++) name = `${wanted}-${number}`;
  return name;
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
  if (found === undefined) throw new Error('it has no complete record');
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
