import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptRecord, AttemptRecords } from './attempt-record.ts';
import { rayErrors } from './errors.ts';

const letGoAfter = 10_000;
const longestPause = 600_000;

export interface LeavingEdges {
  readonly records: Pick<AttemptRecords, 'remove'>;
  /** Deletes a job at Ray. */
  readonly delete: (submission: string, signal: AbortSignal) => Promise<unknown>;
}

/** Jobs that are forgotten here and not yet deleted at Ray. */
export class LeavingJobs {
  /** Their names at Ray. */
  readonly names = new Set<string>();
  readonly #edges: LeavingEdges;
  readonly #closing: AbortSignal;

  constructor(edges: LeavingEdges, closing: AbortSignal) {
    this.#edges = edges;
    this.#closing = closing;
  }

  /**
   * Deletes the job at Ray, not before Ray's own watch over it has ended: that one would write a job that is gone once
   * more, as a failed one without a name, for ever.
   */
  async letGo(record: AttemptRecord): Promise<void> {
    const signal = this.#closing;
    this.names.add(record.submission);
    const done = (): void => {
      this.names.delete(record.submission);
      this.#edges.records.remove(record);
    };
    for (let wait = letGoAfter; ; wait = Math.min(wait * 2, longestPause)) {
      await sleep(wait, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        if (record.accepted) await this.#edges.delete(record.submission, signal);
        return done();
      } catch (error) {
        // Ray lets go of no job that is not over for it; to Manta it is.
        if (rayErrors.Refused.is(error)) return done();
      }
    }
  }
}
