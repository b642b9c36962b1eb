import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** The clock of this machine. */
export const wallClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (duration, signal) => sleep(duration, undefined, signal === undefined ? {} : { signal }),
};
