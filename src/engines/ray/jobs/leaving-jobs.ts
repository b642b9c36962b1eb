import type { Clock, Duration } from '../../../base/time/clock.ts';
import { rayErrors } from '../errors.ts';
import { type AttemptRecord, type AttemptRecords, isOf } from './attempt-record.ts';
import { isTerminal } from './job-info.ts';
import type { KillEdges } from './kill-job.ts';

const letGoAfter = 10_000;
const longestPause = 600_000;
/** How long after it was given up Ray may still take a submission that it has not answered. */
const takenWithin = 300_000;
const lateLook = 2_000;
const longestLateLook = 60_000;

export interface LeavingEdges extends Pick<KillEdges, 'infos' | 'killSupervisor'> {
  readonly records: Pick<AttemptRecords, 'remove'>;
  /** Deletes a job at Ray. */
  readonly delete: (submission: string, signal: AbortSignal) => Promise<unknown>;
  readonly clock: Clock;
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

  /** Ends what Ray takes of it after all, and deletes it there. */
  async letGo(record: AttemptRecord): Promise<void> {
    const { submission } = record;
    this.names.add(submission);
    const there = record.accepted || (record.sent && (await this.#endLate(record)));
    // Where Ray does not call it over, it is over by Manta's word alone, and may run on.
    if (there && !(await this.#delete(submission)) && (await this.#endLate(record))) await this.#delete(submission);
    if (this.#closing.aborted) return;
    this.names.delete(submission);
    this.#edges.records.remove(record);
  }

  /** Whether Ray took it and it is over there now. */
  async #endLate(record: AttemptRecord): Promise<boolean> {
    const { submission } = record;
    const signal = this.#closing;
    let seen = false;
    let pause = lateLook;
    for (let waited = 0; !signal.aborted && (seen || waited < takenWithin); waited += pause) {
      try {
        const info = (await this.#edges.infos([submission], signal)).get(submission);
        if (info && !isOf(record, info)) return false;
        if (info && isTerminal(info)) return true;
        seen = info !== undefined;
        if (seen) await this.#edges.killSupervisor(submission, signal);
      } catch {
        // A Ray that does not answer takes nothing either.
      }
      pause = seen ? Math.min(2 * pause, longestLateLook) : lateLook;
      await this.#pause(pause);
    }
    return false;
  }

  /**
   * False when Ray refuses, since the job is not over. Not before Ray's own watch over the job has ended: that one would
   * write a job that is gone once more, as a failed one without a name, forever.
   */
  async #delete(submission: string): Promise<boolean> {
    for (let wait = letGoAfter; ; wait = Math.min(wait * 2, longestPause)) {
      await this.#pause(wait);
      if (this.#closing.aborted) return true;
      try {
        await this.#edges.delete(submission, this.#closing);
        return true;
      } catch (error) {
        if (!rayErrors.Refused.is(error)) continue;
        const { kind = 'fault' } = error.data.refusal ?? {};
        if (kind !== 'fault') return kind !== 'not-over';
      }
    }
  }

  async #pause(duration: Duration): Promise<void> {
    await this.#edges.clock.sleep(duration, this.#closing).catch(() => {});
  }
}
