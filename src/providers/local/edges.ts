import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { HostPool, OwnHost } from '../../core/spec/local.ts';
import type { ClaimTerms } from './claim-program.ts';
import type { Claimant } from './claims.ts';

export interface LocalProviderEdges {
  /** Where its records are. */
  readonly folder: string;
  readonly claimant: Claimant;
  /** Asked at each launch, so that a changed cluster file counts at once. */
  readonly pools: () => readonly HostPool[];
  /** The way to a host. Called often: the giver keeps one connection per host, and closes it. */
  readonly connect: (host: OwnHost) => Host;
  /** Ends what an instance runs on a connected host, Ray above all, and makes sure that it has ended. */
  readonly end: (host: Host, instance: string, signal: AbortSignal) => Promise<void>;
  /** Whether the key of the cluster is just being put on the host: then it is waited for. @default false */
  readonly awaitsKey?: (host: OwnHost) => boolean;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly terms?: Partial<ClaimTerms>;
  readonly pace?: Partial<LocalPace>;
}

export interface LocalPace {
  /** How long a host may take to answer before others are tried beside it. @default 2 s */
  readonly patience: Duration;
  /** How long it may take at all. @default 20 s */
  readonly connect: Duration;
  /** First pause after a host failed; it doubles. @default 10 s */
  readonly coolOff: Duration;
  /** @default 5 minutes */
  readonly longestCoolOff: Duration;
  /** How long a host is left alone that a person has emptied. @default 10 minutes */
  readonly rest: Duration;
  /** First pause before an end is tried again; it doubles up to a minute. @default 1 s */
  readonly endAgain: Duration;
  /**
   * An instance that is to end leaves the list when its host has not answered for so long, and a launch that is repeated
   * turns to other hosts. @default 10 s
   */
  readonly silent: Duration;
  /** And when the host answers and what runs there cannot be ended for so long. @default 5 minutes */
  readonly giveUp: Duration;
  /** Hosts that are spoken to at once. @default 32 */
  readonly width: number;
}

export const localPace: LocalPace = {
  patience: 2_000,
  connect: 20_000,
  coolOff: 10_000,
  longestCoolOff: 300_000,
  rest: 600_000,
  endAgain: 1_000,
  silent: 10_000,
  giveUp: 300_000,
  width: 32,
};
