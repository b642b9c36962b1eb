import type { Duration } from '../base/time/clock.ts';
import { type LifecycleTimeouts, lifecycleTimeouts } from '../core/lifecycle.ts';
import { listsLag } from '../providers/clouds.ts';
import { type RefusalPauses, refusalPauses } from './refusals.ts';

/** How the loop paces itself. */
export interface LoopSettings {
  /** A pass happens at least this often. @default 5 s */
  readonly sweep: Duration;
  /** As `sweep`, in the first minute of a machine that boots: nobody tells when it is there. @default 5 s */
  readonly bootSweep: Duration;
  /**
   * For how long the engine may still tell of demand that has its place already. A node that has just come counts as empty
   * for as long: what runs on it would be counted twice, and launched for again. @default 0
   */
  readonly demandLag: Duration;
  /** After something happened, a pass waits until nothing more has happened for this long. @default 100 ms */
  readonly batchIdle: Duration;
  /** And never longer than this. @default 1 s */
  readonly batchMax: Duration;
  /** A call to the provider or the engine that has not answered by then counts as unanswered. @default 60 s */
  readonly callDeadline: Duration;
  /** First wait before an unanswered or throttled launch is repeated with its token; it doubles. @default 2 s */
  readonly launchRetry: Duration;
  /** Tries of one launch before the provider's list has to say what came of it. @default 5 */
  readonly launchTries: number;
  /** First wait before a drain, or an order to end a machine that failed, is repeated; it doubles up to `terminateAgain`. @default 2 s */
  readonly orderRetry: Duration;
  /** An order to end a machine is repeated this often while the list still shows it. @default 30 s */
  readonly terminateAgain: Duration;
  /** How far behind the truth a provider's list may be. @default 60 s */
  readonly listLag: Duration;
  readonly timeouts: LifecycleTimeouts;
  readonly refusals: RefusalPauses;
}

export const loopSettings: LoopSettings = {
  sweep: 5_000,
  bootSweep: 5_000,
  demandLag: 0,
  batchIdle: 100,
  batchMax: 1_000,
  callDeadline: 60_000,
  launchRetry: 2_000,
  launchTries: 5,
  orderRetry: 2_000,
  terminateAgain: 30_000,
  listLag: listsLag,
  timeouts: { ...lifecycleTimeouts, allocated: 900_000, absent: 60_000 },
  refusals: refusalPauses,
};
