/** Milliseconds since the Unix epoch. The one unit of time below `cli/`. */
export type Instant = number;

/** The end of the year 9999: what lies behind it is a mistake, and far behind it no date at all. */
export const latestInstant: Instant = 253_402_300_799_999;

/** A length of time in milliseconds. */
export type Duration = number;

/** Where everything above `core/` takes its time from, so that simulation and tests can own it. */
export interface Clock {
  now(): Instant;
  /** Time since some fixed moment of this process. Unlike `now` it is never set, forwards or backwards. */
  elapsed?(): Duration;
  /** Resolves after `duration`; rejects with the signal's reason when aborted. */
  sleep(duration: Duration, signal?: AbortSignal): Promise<void>;
}
