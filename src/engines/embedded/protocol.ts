import type { ProcessIdentity } from '../../base/process.ts';
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Labels, Resources } from '../../core/resources.ts';
import type { AttemptOrder, AttemptReport } from '../runner.ts';

/** Grows with every change that an older side would misread. */
export const protocolVersion = 1;

/** `agents/<instance>.json`: an agent that listens. Written by the agent when it is ready, removed when it ends well. */
export interface AgentRecord extends ProcessIdentity {
  readonly protocol: number;
  readonly instance: string;
  readonly node: string;
  readonly socket: string;
}

export type DrainReason = { readonly kind: 'idle' } | { readonly kind: 'preemption'; readonly deadline: Instant };

/** Everything an agent knows. The answer to the first call, so a mantad that comes back needs no other. */
export interface Hello {
  readonly protocol: number;
  readonly node: string;
  readonly type: string;
  readonly head: boolean;
  readonly total: Resources;
  readonly labels: Labels;
  readonly draining?: DrainReason;
  readonly idleFor: Duration;
  readonly attempts: readonly Held[];
  /** Room kept for gangs whose entrypoint runs elsewhere. */
  readonly kept: readonly { readonly attempt: string; readonly resources: Resources }[];
}

/** A newer head has greeted the agent. */
export interface Superseded {
  readonly superseded: true;
}

export interface Held {
  readonly report: AttemptReport;
  readonly resources: Resources;
}

/** What mantad asks of an agent, and the answers. All calls may be repeated without harm. */
export interface AgentCalls {
  /** `epoch` grows with every head. The agent hears only the newest: from its greeting on, what older ones sent is void. */
  hello: { args: { readonly protocol: number; readonly epoch: number }; answer: Hello | Superseded };
  /** Renews the lease; tells how much output each attempt has. */
  renew: { args: Record<string, never>; answer: { readonly sizes: Readonly<Record<string, number>> } };
  /** `refused` says why the attempt was not taken: then it has not run here. `elsewhere` is the instance that took it. */
  start: {
    args: { readonly order: AttemptOrder; readonly resources: Resources; readonly gang?: readonly GangMember[] };
    answer: { readonly refused?: string; readonly elsewhere?: string };
  };
  keep: {
    args: { readonly attempt: string; readonly resources: Resources };
    answer: { readonly refused?: string };
  };
  release: { args: { readonly attempt: string }; answer: Record<string, never> };
  stop: {
    args: { readonly attempt: string; readonly grace: Duration; readonly as?: 'stopped' | 'node-lost' };
    answer: Record<string, never>;
  };
  forget: { args: { readonly attempt: string }; answer: Record<string, never> };
  drain: {
    args: { readonly reason: DrainReason };
    answer: { readonly accepted: boolean; readonly reason?: string };
  };
}

/** One bundle of a gang, as its entrypoint sees it in `MANTA_GANG`. */
export interface GangMember {
  readonly node: string;
  readonly resources: Resources;
}

export type CallName = keyof AgentCalls;

/** One line on the socket. */
export type Message =
  | { readonly id: number; readonly call: CallName; readonly args: unknown }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly problem: string }
  /** Unasked: an attempt has changed. */
  | { readonly report: AttemptReport };
