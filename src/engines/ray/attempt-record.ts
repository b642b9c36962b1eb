import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '../../base/clock.ts';
import { makeFolder, namesIn, readJson, writeJson } from '../../base/json-file.ts';
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

/** So many forgotten ids are remembered. */
const mostUsed = 50_000;

/**
 * One file an attempt, and the ids of those forgotten. An id that comes again, because its job was deleted and submitted
 * anew, gets a name of its own: Ray leaves the log of a deleted job on the disk of its node and would append to it, and
 * what still looks after the old job would take the end of the old for that of the new.
 */
export class AttemptRecords {
  readonly #folder: string;
  readonly #used: Map<string, number>;

  constructor(folder: string) {
    this.#folder = makeFolder(join(folder, 'ray-attempts'));
    const lines = readLines(this.#usedFile).slice(-mostUsed);
    writeFileSync(this.#usedFile, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    this.#used = new Map();
    for (const id of lines) this.#used.set(id, (this.#used.get(id) ?? 0) + 1);
  }

  /** The name to submit an attempt under that has no record. */
  submissionOf(id: string): string {
    const times = this.#used.get(id) ?? 0;
    return times === 0 ? id : `${id}-${times + 1}`;
  }

  all(): AttemptRecord[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .flatMap((name) => readJson<AttemptRecord>(join(this.#folder, name)) ?? []);
  }

  write(record: AttemptRecord): void {
    writeJson(this.#file(record.submission), record);
  }

  /** Its id is free for another attempt from here on. */
  forget(record: AttemptRecord): void {
    this.#used.set(record.id, (this.#used.get(record.id) ?? 0) + 1);
    appendFileSync(this.#usedFile, `${record.id}\n`, { mode: 0o600 });
    this.write({ ...record, forgotten: true });
  }

  remove({ submission }: AttemptRecord): void {
    rmSync(this.#file(submission), { force: true });
  }

  get #usedFile(): string {
    return join(this.#folder, 'used');
  }

  #file(submission: string): string {
    return join(this.#folder, `${encodeURIComponent(submission).slice(0, 200)}.json`);
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
