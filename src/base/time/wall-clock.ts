import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** A timer that is set further ahead fires at once. */
const longestTimer = 0x7fff_ffff;

/** The clock of this machine. */
export const wallClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(duration, signal) {
    const options = signal === undefined ? {} : { signal };
    for (let left = duration; ; left -= longestTimer) {
      await sleep(Math.min(left, longestTimer), undefined, options);
      if (left <= longestTimer) return;
    }
  },
};
