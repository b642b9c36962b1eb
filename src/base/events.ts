import type { Instant } from './time/clock.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'result';

/** One thing that happened, with its data. Words are made where it is shown, by its kind's `text`. */
export interface MantaEvent<Data = unknown> {
  readonly code: string;
  readonly level: Level;
  readonly at: Instant;
  readonly text: string;
  readonly data: Data;
  /** Set on steps of long work: the renderings draw progress from it. */
  readonly progress?: Progress;
}

export interface Progress {
  /** Steps with the same id are one line on a live terminal. */
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly fraction?: number;
}

export interface EventKind<Data> {
  readonly code: string;
  readonly level: Level;
  readonly text: (data: Data) => string;
}

/** Where library code says what happens. Nothing below `cli/` prints. */
export interface EventSink {
  emit<Data>(kind: EventKind<Data>, data: Data, progress?: Progress): void;
}

/** Declares a kind of event; `docs/events.md` lists every code. */
export function defineEvent<Data>(kind: EventKind<Data>): EventKind<Data> {
  return kind;
}

/** For callers that do not watch. */
export const silent: EventSink = { emit: () => {} };
