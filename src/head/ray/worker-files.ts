import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { EventSink } from '../../base/events.ts';
import { readJson, writeJson } from '../../base/json-file.ts';
import { contentsFingerprint } from '../../bringup/contents.ts';
import type { NodeFiles } from '../../bringup/node.ts';
import { headEvents } from '../events.ts';

export interface WorkerFilesOptions {
  /** Where it is kept which files the workers have. */
  readonly folder: string;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly files: () => NodeFiles;
  /** `file_mounts_sync_continuously`. */
  readonly continuously: () => boolean;
  /** Brings the files, and what depends on them, to every worker that runs; Ray is not restarted. */
  readonly apply: (signal: AbortSignal) => Promise<void>;
}

const lookEvery = 5_000;

/** Sees to it that running workers have the files as they are on the head. New workers get them when they are made. */
export class WorkerFiles {
  readonly #options: WorkerFilesOptions;
  #asked = Promise.withResolvers<void>();

  constructor(options: WorkerFilesOptions) {
    this.#options = options;
  }

  /** The files may have changed. */
  look(): void {
    this.#asked.resolve();
  }

  async keep(signal: AbortSignal): Promise<void> {
    const { clock, continuously, events } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#once(signal);
      } catch (error) {
        if (!signal.aborted) events.emit(headEvents.filesTrouble, { detail: (error as Error).message });
      }
      const pause = continuously() ? lookEvery : 3_600_000;
      const sleeping = new AbortController();
      await Promise.race([
        this.#asked.promise,
        clock.sleep(pause, AbortSignal.any([signal, sleeping.signal])).catch(() => {}),
      ]);
      sleeping.abort();
      this.#asked = Promise.withResolvers<void>();
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    const { folder, files, apply, events } = this.#options;
    const now = files();
    if (now.mounts.length === 0) return;
    const record = join(folder, 'files.json');
    const contents = await contentsFingerprint(now);
    const before = readJson<{ readonly contents: string }>(record)?.contents;
    if (before === contents) return;
    if (before !== undefined) {
      events.emit(headEvents.filesChanged, { mounts: now.mounts.length });
      await apply(signal);
    }
    writeJson(record, { contents });
  }
}
