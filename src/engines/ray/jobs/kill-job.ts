import type { Clock, Duration } from '../../../base/time/clock.ts';
import type { JobInfo } from './job-info.ts';

export interface KillEdges {
  /** One that is never set. */
  readonly clock: Clock;
  /** What Ray's store has of these jobs; those it does not know are left out. */
  readonly infos: (ids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, JobInfo>>;
  /** Ends the actor that runs the entrypoint, also one that has not found room yet. */
  readonly killSupervisor: (id: string, signal: AbortSignal) => Promise<void>;
  /** What the job has left to end by itself; it may become less. */
  readonly graceLeft: () => Duration;
  /** It is over, or on its way to be. */
  readonly isOver: () => boolean;
  /** Ray does not settle it. */
  readonly giveUp: () => Promise<void>;
  readonly trouble: (error: unknown) => void;
}

const shortestPause = 50;
const longestPause = 2_000;
const graceLook = 250;
/** How long Ray may take to settle a job whose supervisor was ended. */
const settledWithin = 30_000;

/**
 * Ends a job after its grace. Ray kills by itself only after its own, longer wait, and one that has not begun it does not
 * stop at all: its supervisor is taken away. One that Ray cannot settle even then is given up.
 */
export async function killJob(submission: string, edges: KillEdges, signal: AbortSignal): Promise<void> {
  const { clock, graceLeft, isOver } = edges;
  let killedAt: number | undefined;
  for (let pause = shortestPause; !signal.aborted && !isOver(); ) {
    try {
      const info = (await edges.infos([submission], signal)).get(submission);
      if (info?.status === 'PENDING' || graceLeft() <= 0) {
        await edges.killSupervisor(submission, signal);
        killedAt ??= clock.now();
        pause = Math.min(longestPause, pause * 2);
      }
    } catch (error) {
      edges.trouble(error);
      pause = longestPause;
    }
    if (killedAt !== undefined && clock.now() - killedAt > settledWithin && !isOver()) await edges.giveUp();
    const wait = killedAt === undefined && graceLeft() > 0 ? Math.min(graceLook, graceLeft()) : pause;
    await clock.sleep(wait, signal).catch(() => {});
  }
}
