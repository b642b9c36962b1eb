import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/base/time/clock.ts';

/** Milliseconds since the epoch, finely enough that of two things one after the other each has its own. */
const instant = (): number => performance.timeOrigin + performance.now();

/** The time of this machine. Nobody need wait for a cloud that sleeps. */
export const machineClock: Clock = {
  now: instant,
  sleep: (duration, signal) => sleep(duration, undefined, { ref: false, ...(signal && { signal }) }),
};
