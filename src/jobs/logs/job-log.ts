import type { LogPiece } from '../../base/files/log-segments.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import type { JobStore } from '../queue/store.ts';
import type { LogStore } from './log-store.ts';

export interface JobLogDeps {
  readonly store: JobStore;
  readonly logs: LogStore;
}

/** Output of all attempts of a job, one after the other, as they come. Ends when the job is over and every byte was given. */
export async function* followJob(
  { store, logs }: JobLogDeps,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  for (let number = 1; ; number++) {
    const job = await whenJob(store, id, signal, (each) => each.attempts.length >= number || isOver(each.state));
    if (!job || job.attempts.length < number) return;
    yield* logs.follow(id, number, 0, signal);
    // The end of the output and the end of the attempt are two entries; what follows is decided by the second.
    await whenJob(store, id, signal, (each) => each.attempts[number - 1]?.cause !== undefined);
  }
}

/** Output of all attempts as it stands, without waiting. */
export async function* readJob({ logs }: JobLogDeps, job: Job): AsyncGenerator<Buffer> {
  for (const { number } of job.attempts) {
    for (let offset = 0; ; ) {
      const piece = await logs.read(job.id, number, offset, 256 << 10);
      if (piece.bytes.length === 0) break;
      yield piece.bytes;
      offset = piece.next;
    }
  }
}

/** The job once it satisfies `holds`; undefined when it is deleted or the signal aborts first. */
export function whenJob(
  store: JobStore,
  id: string,
  signal: AbortSignal,
  holds: (job: Job) => boolean,
): Promise<Job | undefined> {
  return new Promise((resolve) => {
    const finish = (job: Job | undefined): void => {
      stop();
      signal.removeEventListener('abort', abort);
      resolve(job);
    };
    const abort = (): void => finish(undefined);
    const stop = store.onChange((changes) => {
      for (const change of changes) {
        if (change.id !== id) continue;
        if (!change.after || holds(change.after)) finish(change.after);
      }
    });
    const now = store.jobs.get(id);
    if (!now || holds(now) || signal.aborted) finish(signal.aborted ? undefined : now);
    else signal.addEventListener('abort', abort, { once: true });
  });
}
