import type { Instant } from '../base/time/clock.ts';

/** The one that decides in a simulated world: Manta's loop, or a model of another one. */
export interface Decider {
  readonly name: string;
  /** Decisions taken so far. */
  readonly passes: number;
  /** The instant of the last decision that wanted nothing changed, while none has since wanted anything. */
  readonly contentSince: Instant | undefined;
  start(): void;
  /** Something happened. */
  wake(): void;
  /** Dies where it stands and starts again. */
  crash(): void;
  /** Resolves when it has come to rest; time must go on for that. */
  stop(): Promise<void>;
}
