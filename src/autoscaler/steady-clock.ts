import type { Clock } from '../base/clock.ts';

/** The clock's time at this moment, and from here on only what has really passed: setting the clock does not move it. */
export function steadyClock(clock: Clock): Clock {
  const { elapsed } = clock;
  if (elapsed === undefined) return clock;
  const offset = clock.now() - elapsed.call(clock);
  return {
    now: () => offset + elapsed.call(clock),
    elapsed: () => elapsed.call(clock),
    sleep: (duration, signal) => clock.sleep(duration, signal),
  };
}
