import { messageOf } from '../../../base/errors.ts';
import type { EventSink } from '../../../base/events.ts';
import { readJson, writeJson } from '../../../base/files/json-file.ts';
import { BackOff } from '../../../base/time/back-off.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import type { NodeFiles } from '../../../bringup/node/node.ts';
import { contentsFingerprint } from '../../../bringup/sync/contents.ts';
import type { ProviderInstance } from '../../../providers/provider.ts';
import { headEvents } from '../../events.ts';

export interface WorkerFilesOptions {
  /** The file that says which files the workers have. */
  readonly record: string;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly files: () => NodeFiles;
  /** `file_mounts_sync_continuously`. */
  readonly continuously: () => boolean;
  /** Those that run. */
  readonly workers: (signal: AbortSignal) => Promise<readonly ProviderInstance[]>;
  /** Brings the files, and what depends on them, to a worker; Ray is not restarted. `left`: it is to be replaced instead. */
  readonly bring: (worker: ProviderInstance, signal: AbortSignal) => Promise<{ readonly left?: boolean }>;
}

/** What the workers have: these contents, those apart that were not reached yet. */
interface Had {
  readonly contents: string;
  readonly missed?: readonly string[];
}

const lookEvery = 5_000;
const lookSeldom = 3_600_000;
const retryFirst = 10_000;
const retryLast = 600_000;

/** Sees to it that running workers have the files as they are on the head. New workers get them when they are made. */
export class WorkerFiles {
  readonly #options: WorkerFilesOptions;
  /** By the contents that were to be brought. */
  readonly #tries: BackOff;
  #told: string | undefined;
  #asked = Promise.withResolvers<void>();

  constructor(options: WorkerFilesOptions) {
    this.#options = options;
    this.#tries = new BackOff(steadyClock(options.clock), retryFirst, retryLast);
  }

  /** The files may have changed, or what was in the way of them. */
  look(): void {
    this.#tries.forgetAll();
    this.#asked.resolve();
  }

  async keep(signal: AbortSignal): Promise<void> {
    const { clock, continuously } = this.#options;
    while (!signal.aborted) {
      const usual = continuously() ? lookEvery : lookSeldom;
      const pause = Math.min(usual, await this.#once(signal));
      const sleeping = new AbortController();
      await Promise.race([
        this.#asked.promise,
        clock.sleep(pause, AbortSignal.any([signal, sleeping.signal])).catch(() => {}),
      ]);
      sleeping.abort();
      this.#asked = Promise.withResolvers<void>();
    }
  }

  /** When it is to be done again at the latest. */
  async #once(signal: AbortSignal): Promise<Duration> {
    const { record, files } = this.#options;
    const now = files();
    if (now.mounts.length === 0) return lookSeldom;
    let contents: string | undefined;
    try {
      contents = await contentsFingerprint(now);
      const had = readJson<Had>(record);
      if (had?.contents === contents && had.missed === undefined) return lookSeldom;
      if (this.#tries.rests(contents)) return lookEvery;
      const missed = had === undefined ? new Map() : await this.#bring(had, contents, now.mounts.length, signal);
      if (signal.aborted) return lookSeldom;
      writeJson(record, { contents, ...(missed.size > 0 && { missed: [...missed.keys()] }) } satisfies Had);
      this.#tell([...missed.values()].join('; ') || undefined);
      return missed.size > 0 ? this.#tries.tried(contents) : lookSeldom;
    } catch (error) {
      if (!signal.aborted) this.#tell(messageOf(error));
      return this.#tries.tried(contents ?? '');
    }
  }

  /** Why it did not come to each worker that was not reached. */
  async #bring(
    { contents: before, missed }: Had,
    contents: string,
    mounts: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const { workers, bring, events } = this.#options;
    const changed = before !== contents;
    if (changed) events.emit(headEvents.filesChanged, { mounts });
    const due = (await workers(signal)).filter(({ id }) => changed || missed?.includes(id));
    const left: string[] = [];
    const failed = new Map<string, string>();
    await Promise.all(
      due.map(async (worker) => {
        try {
          if ((await bring(worker, signal)).left) left.push(worker.address?.inside ?? worker.id);
        } catch (error) {
          failed.set(worker.id, messageOf(error));
        }
      }),
    );
    if (left.length > 0 && !signal.aborted) events.emit(headEvents.filesKeptBack, { nodes: left });
    return failed;
  }

  /** Each trouble once: it is tried again for as long as it lasts. */
  #tell(detail: string | undefined): void {
    if (detail !== undefined && detail !== this.#told) this.#options.events.emit(headEvents.filesTrouble, { detail });
    this.#told = detail;
  }
}
