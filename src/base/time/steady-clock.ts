import type { Clock, Duration } from './clock.ts';

/**
 * The clock's time at this moment, and from here on only what has really passed: setting the clock does not move it. In
 * whole milliseconds, as instants are.
 */
export function steadyClock(clock: Clock): Clock {
  if (clock.elapsed === undefined) return clock;
  const elapsed = (): Duration => clock.elapsed?.() ?? 0;
  const offset = clock.now() - elapsed();
  return {
    now: () => Math.floor(offset + elapsed()),
    elapsed,
    sleep: (duration, signal) => clock.sleep(duration, signal),
  };
}
