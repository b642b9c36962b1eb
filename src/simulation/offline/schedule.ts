import type { Duration } from '../../base/time/clock.ts';
import type { NodeTypeName } from '../../core/instance.ts';

/** One machine of a schedule. Times count from the start of the run. */
export interface PlannedMachine {
  readonly type: NodeTypeName;
  /** Which of the type's offers is asked for first. */
  readonly offer: number;
  readonly launchAt: Duration;
  /** From then on it takes no new work, and ends as soon as it is idle. `Infinity`: it stays to the end. */
  readonly endAt: Duration;
}

/** Which machines are launched and ended when, decided before the run. */
export type Schedule = readonly PlannedMachine[];
