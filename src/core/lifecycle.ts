import type { Duration, Instant } from '../base/time/clock.ts';
import { durationWords } from './duration.ts';
import type { InstanceId, InstanceStatus, Market, NodeTypeName } from './instance.ts';
import type { Resources } from './resources.ts';

/** What is kept of one instance from pass to pass; folded from the journal. */
export interface InstanceRecord {
  readonly id: InstanceId;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly status: InstanceStatus;
  readonly requestedAt: Instant;
  /** When it entered `status`. */
  readonly since: Instant;
  /** How often the provider has been asked for it. */
  readonly attempts: number;
  readonly launchToken?: string;
  readonly providerId?: string;
  readonly zone?: string;
  readonly market?: Market;
  readonly launchHash?: string;
  readonly slice?: string;
  /** What its machine has beyond the resources of its type. */
  readonly extra?: Resources;
  /** Its machine is stopped, not terminated, once its node has stopped. */
  readonly stopsNext?: true;
  /** A list has shown its machine stopped: until then it may still run. */
  readonly machineOff?: true;
  /** Nodes that ran on its machine before this instance: the engine may still tell that they are dead. */
  readonly formerNodes?: readonly string[];
  /** The engine's node that was last seen on it. */
  readonly node?: string;
  /** Since when a complete list has not shown its machine. */
  readonly absentSince?: Instant;
  /** Why it is left alone; set by `advance` and cleared by nobody but an operator or its machine's end. */
  readonly isolated?: Isolation;
}

/** What is known of one instance at one instant. A side that did not answer in full is left out. */
export interface Observation {
  /** Its machine in the provider's list; `absent` only from a complete list. */
  readonly machine?: 'pending' | 'running' | 'stopping' | 'stopped' | 'absent';
  /** Its node as the engine reports it; `absent` only from a complete report. */
  readonly node?: { readonly state: 'alive' | 'draining' | 'dead' | 'absent'; readonly id?: string };
  /** What has come of Manta's own calls since the last observation, in order. */
  readonly outcomes?: readonly InstanceOutcome[];
}

export type InstanceOutcome =
  /** The provider has been, or is about to be, asked for it. */
  | { readonly kind: 'launch-sent'; readonly token?: string; readonly zone?: string; readonly market?: Market }
  /** The provider gave a machine. */
  | {
      readonly kind: 'launched';
      readonly providerId: string;
      readonly slice?: string;
      readonly extra?: Resources;
      readonly formerNodes?: readonly string[];
    }
  | { readonly kind: 'launch-refused'; readonly reason: string; readonly final?: boolean }
  /** The provider accepted it, and ended it before it ran. */
  | { readonly kind: 'refused-late'; readonly reason: string }
  | { readonly kind: 'setup-started' }
  | { readonly kind: 'setup-failed'; readonly reason: string }
  | { readonly kind: 'drain-sent' }
  | { readonly kind: 'drain-refused'; readonly reason?: string }
  /** Its machine is to be switched off, and kept. */
  | { readonly kind: 'stop-sent' }
  /** Its machine, which was stopped, is another instance now. */
  | { readonly kind: 'restarted' }
  | { readonly kind: 'terminate-sent' }
  | { readonly kind: 'terminate-failed'; readonly reason: string }
  /** Nothing was ever asked of the provider for it, or nothing came of it: there is no machine to end. */
  | { readonly kind: 'cancelled' };

export interface Move {
  readonly from: InstanceStatus;
  readonly to: InstanceStatus;
  readonly at: Instant;
  readonly because: MoveReason;
}

export type MoveReason =
  | { readonly kind: 'outcome'; readonly outcome: InstanceOutcome['kind']; readonly detail?: string }
  | { readonly kind: 'machine'; readonly state: NonNullable<Observation['machine']> }
  | { readonly kind: 'node'; readonly state: NonNullable<Observation['node']>['state'] }
  | { readonly kind: 'timeout'; readonly after: Duration };

/** Why one instance could not be moved. It hurts that instance only. */
export type Isolation =
  | { readonly kind: 'unknown-status'; readonly status: string }
  | { readonly kind: 'unknown-input'; readonly input: string }
  | { readonly kind: 'illegal-move'; readonly from: string; readonly to: string }
  | { readonly kind: 'bad-record'; readonly field: string };

export interface Advance {
  readonly record: InstanceRecord;
  /** In order; empty when nothing changed. */
  readonly moves: readonly Move[];
  /** Set in the pass in which the instance was isolated. */
  readonly isolated?: Isolation;
}

/** How long an instance may stay in a status before it is moved on. */
export interface LifecycleTimeouts {
  /** `requested` without an answer: asked again, and given up after `attempts`. @default 10 min */
  readonly requested: Duration;
  /** @default 3 */
  readonly attempts: number;
  /** `allocated` without a node or setup. @default 60 min */
  readonly allocated: Duration;
  /** From the first connection to a node that runs. @default 30 min */
  readonly settingUp: Duration;
  /** A drain that the engine took and never carried out: the node counts as running again. @default 5 min */
  readonly drainRequested: Duration;
  /** A draining node whose end is never reported. @default 10 min */
  readonly draining: Duration;
  /** @default 5 min */
  readonly terminating: Duration;
  /** A machine missing from complete lists for this long is gone; lists may lag behind a launch. @default 15 s */
  readonly absent: Duration;
}

export const lifecycleTimeouts: LifecycleTimeouts = {
  requested: 600_000,
  attempts: 3,
  allocated: 3_600_000,
  settingUp: 1_800_000,
  drainRequested: 300_000,
  draining: 600_000,
  terminating: 300_000,
  absent: 15_000,
};

/** What is said of a move to `setup-failed`; undefined where nobody said anything. */
export function setUpFailure({ because }: Pick<Move, 'because'>): string | undefined {
  if (because.kind === 'timeout')
    return `it did not finish within ${durationWords(because.after)}; raise provider.manta.setup_timeout to allow more time`;
  return (because.kind === 'outcome' && because.detail) || undefined;
}

/**
 * Every legal move. As in Ray's instance manager, and where that wedges, wider: an instance may be ended from any
 * status in which a machine may exist (`requested` and `drain-requested` too), and a dead node ends any of them.
 */
export const legalMoves: Readonly<Record<InstanceStatus, readonly InstanceStatus[]>> = {
  queued: ['requested', 'allocated', 'terminated', 'launch-failed'],
  requested: ['queued', 'allocated', 'running', 'launch-failed', 'terminating', 'terminated'],
  allocated: [
    'setting-up',
    'running',
    'draining',
    'stopped',
    'launch-timeout',
    'launch-failed',
    'setup-failed',
    'terminating',
    'terminated',
  ],
  'setting-up': ['running', 'draining', 'stopped', 'launch-failed', 'setup-failed', 'terminating', 'terminated'],
  running: ['drain-requested', 'draining', 'stopped', 'terminating', 'terminated'],
  'drain-requested': ['running', 'draining', 'stopped', 'terminating', 'terminated'],
  draining: ['stopped', 'terminating', 'terminated'],
  stopped: ['machine-stopped', 'terminating', 'terminated'],
  'machine-stopped': ['terminating', 'terminated'],
  terminating: ['terminated', 'terminate-failed'],
  terminated: [],
  'launch-failed': [],
  'launch-timeout': ['terminating', 'terminated'],
  'setup-failed': ['terminating', 'terminated'],
  'terminate-failed': ['terminating', 'terminated'],
};

/** No machine and no call is left behind it. */
export const isFinal = (status: InstanceStatus): boolean => status === 'terminated' || status === 'launch-failed';

/** It runs a node, or can still come to run one. */
export const mayRun = (status: InstanceStatus): boolean =>
  status === 'queued' ||
  status === 'requested' ||
  status === 'allocated' ||
  status === 'setting-up' ||
  status === 'running' ||
  status === 'drain-requested';

/** Asked for, and no node on it yet. */
export const isPending = (status: InstanceStatus): boolean =>
  status === 'queued' || status === 'requested' || status === 'allocated' || status === 'setting-up';

/** Broken or stopped: what remains is to end it. */
export const mustEnd = (status: InstanceStatus): boolean =>
  status === 'stopped' || status === 'launch-timeout' || status === 'setup-failed' || status === 'terminate-failed';

/**
 * Moves one instance on by what was observed: first the outcomes of Manta's own calls, then the provider's list, then
 * the engine's report, then timeouts. Never throws: what it does not understand isolates this instance with a reason.
 */
export function advance(
  record: InstanceRecord,
  observation: Observation,
  now: Instant,
  timeouts: LifecycleTimeouts = lifecycleTimeouts,
): Advance {
  const problem = recordProblem(record) ?? inputProblem(observation);
  if (problem !== undefined) return isolate(record, [], problem);
  if (record.isolated !== undefined && observation.machine !== 'absent') return { record, moves: [] };

  const walk = new Walk(record, now);
  for (const outcome of observation.outcomes ?? []) walk.outcome(outcome, timeouts);
  walk.machine(observation.machine, observation.node?.state, timeouts);
  walk.node(observation.node);
  walk.timeout(timeouts);
  return walk.end();
}

function isolate(record: InstanceRecord, moves: readonly Move[], isolated: Isolation): Advance {
  return { record: { ...record, isolated }, moves, isolated };
}

function recordProblem(record: InstanceRecord): Isolation | undefined {
  if (!Object.hasOwn(legalMoves, record.status)) return { kind: 'unknown-status', status: String(record.status) };
  if (typeof record.id !== 'string' || record.id === '') return { kind: 'bad-record', field: 'id' };
  if (!Number.isFinite(record.since)) return { kind: 'bad-record', field: 'since' };
  if (!Number.isFinite(record.attempts)) return { kind: 'bad-record', field: 'attempts' };
  return undefined;
}

const machineStates = new Set<unknown>([undefined, 'pending', 'running', 'stopping', 'stopped', 'absent']);
const nodeStates = new Set<unknown>([undefined, 'alive', 'draining', 'dead', 'absent']);

function inputProblem(observation: Observation): Isolation | undefined {
  if (!machineStates.has(observation.machine))
    return { kind: 'unknown-input', input: `machine ${String(observation.machine)}` };
  if (!nodeStates.has(observation.node?.state))
    return { kind: 'unknown-input', input: `node ${String(observation.node?.state)}` };
  const outcomes: unknown = observation.outcomes ?? [];
  if (!Array.isArray(outcomes) || outcomes.some((one) => typeof one !== 'object' || one === null))
    return { kind: 'unknown-input', input: 'outcomes' };
  return undefined;
}

/** One record on its way through one observation. Stops at the first illegal move. */
class Walk {
  private record: InstanceRecord;
  private readonly now: Instant;
  private readonly moves: Move[] = [];
  private problem: Isolation | undefined;

  constructor(record: InstanceRecord, now: Instant) {
    this.record = record;
    this.now = now;
  }

  end(): Advance {
    if (this.problem !== undefined) return isolate(this.record, this.moves, this.problem);
    return { record: this.record, moves: this.moves };
  }

  private go(to: InstanceStatus, because: MoveReason): void {
    const from = this.record.status;
    if (this.problem !== undefined || from === to) return;
    if (!legalMoves[from].includes(to)) {
      this.problem = { kind: 'illegal-move', from, to };
      return;
    }
    this.moves.push({ from, to, at: this.now, because });
    this.record = { ...this.record, status: to, since: this.now };
  }

  outcome(outcome: InstanceOutcome, timeouts: LifecycleTimeouts): void {
    if (this.problem !== undefined) return;
    const because = (detail?: string): MoveReason =>
      detail === undefined
        ? { kind: 'outcome', outcome: outcome.kind }
        : { kind: 'outcome', outcome: outcome.kind, detail };
    const { status } = this.record;
    switch (outcome.kind) {
      case 'launch-sent':
        if (status === 'queued' || status === 'requested') {
          this.go('requested', because());
          this.record = {
            ...this.record,
            attempts: this.record.attempts + 1,
            ...(outcome.token === undefined ? {} : { launchToken: outcome.token }),
            ...(outcome.zone === undefined ? {} : { zone: outcome.zone }),
            ...(outcome.market === undefined ? {} : { market: outcome.market }),
          };
        } else this.go('requested', because());
        return;
      case 'launched':
        this.record = {
          ...this.record,
          providerId: outcome.providerId,
          ...(outcome.slice === undefined ? {} : { slice: outcome.slice }),
          ...(outcome.extra === undefined ? {} : { extra: outcome.extra }),
          ...(outcome.formerNodes === undefined ? {} : { formerNodes: outcome.formerNodes }),
        };
        // A late or repeated answer tells nothing new about an instance that has moved on.
        if (status === 'queued' || status === 'requested') this.go('allocated', because());
        return;
      case 'launch-refused':
        if (status !== 'queued' && status !== 'requested') return;
        if (outcome.final === false && this.record.attempts < timeouts.attempts)
          this.go('queued', because(outcome.reason));
        else this.go('launch-failed', because(outcome.reason));
        return;
      case 'refused-late':
        if (isPending(status)) this.go('launch-failed', because(outcome.reason));
        return;
      case 'setup-started':
        if (status === 'allocated') this.go('setting-up', because());
        return;
      case 'setup-failed':
        if (status === 'allocated' || status === 'setting-up') this.go('setup-failed', because(outcome.reason));
        return;
      case 'drain-sent':
        this.go('drain-requested', because());
        return;
      case 'drain-refused':
        if (status === 'drain-requested') this.go('running', because(outcome.reason));
        return;
      case 'stop-sent':
        if (status === 'stopped') this.go('machine-stopped', because());
        return;
      case 'restarted':
        if (status === 'machine-stopped') this.go('terminated', because());
        return;
      case 'terminate-sent':
        if (!isFinal(status)) this.go(status === 'queued' ? 'terminated' : 'terminating', because());
        return;
      case 'terminate-failed':
        if (status === 'terminating') this.go('terminate-failed', because(outcome.reason));
        return;
      case 'cancelled':
        if (!isFinal(status)) this.go('terminated', because());
        return;
      default:
        this.problem = { kind: 'unknown-input', input: `outcome ${String((outcome as { kind?: unknown }).kind)}` };
    }
  }

  machine(state: Observation['machine'], node: string | undefined, timeouts: LifecycleTimeouts): void {
    if (this.problem !== undefined || state === undefined) return;
    const because: MoveReason = { kind: 'machine', state };
    if (state !== 'absent') {
      if (this.record.absentSince !== undefined) {
        const { absentSince: _, ...present } = this.record;
        this.record = present;
      }
      const { status } = this.record;
      if (status === 'queued' || status === 'requested') this.go('allocated', because);
      if (status === 'machine-stopped' && state === 'stopped' && this.record.machineOff !== true)
        this.record = { ...this.record, machineOff: true };
      return;
    }
    const { status } = this.record;
    // Before an answer or a first sight there is nothing to miss.
    if (status === 'queued' || status === 'requested' || isFinal(status)) return;
    const absentSince = this.record.absentSince ?? this.now;
    this.record = { ...this.record, absentSince };
    const ended = status === 'terminating' || status === 'terminate-failed' || node === 'dead';
    if (ended || this.now - absentSince >= timeouts.absent) this.go('terminated', because);
  }

  node(node: Observation['node']): void {
    if (this.problem !== undefined || node === undefined) return;
    const { status } = this.record;
    const because: MoveReason = { kind: 'node', state: node.state };
    const starting = status === 'requested' || status === 'allocated' || status === 'setting-up';
    if (node.state === 'alive') {
      if (node.id !== undefined && node.id !== this.record.node) this.record = { ...this.record, node: node.id };
      if (starting) this.go('running', because);
      return;
    }
    if (node.state === 'draining') {
      if (status === 'allocated' || status === 'setting-up' || status === 'running' || status === 'drain-requested')
        this.go('draining', because);
      return;
    }
    // A node that was never seen alive is not missed; one that was, and is dead or unknown to the engine, has stopped.
    const ran = status === 'running' || status === 'drain-requested' || status === 'draining';
    if (ran && this.record.kind === 'worker') this.go('stopped', because);
    else if (node.state === 'dead' && (status === 'allocated' || status === 'setting-up')) this.go('stopped', because);
  }

  timeout(timeouts: LifecycleTimeouts): void {
    if (this.problem !== undefined) return;
    const { status, since, attempts } = this.record;
    const limit = limits[status]?.(timeouts);
    if (limit === undefined || this.now - since <= limit) return;
    const because: MoveReason = { kind: 'timeout', after: limit };
    if (status === 'requested') this.go(attempts < timeouts.attempts ? 'queued' : 'launch-failed', because);
    else if (status === 'allocated') this.go('launch-timeout', because);
    else if (status === 'setting-up') this.go('setup-failed', because);
    else if (status === 'drain-requested') this.go('running', because);
    else if (status === 'draining') this.go('stopped', because);
    else if (status === 'terminating') this.go('terminate-failed', because);
  }
}

const limits: Partial<Record<InstanceStatus, (timeouts: LifecycleTimeouts) => Duration>> = {
  requested: (t) => t.requested,
  allocated: (t) => t.allocated,
  'setting-up': (t) => t.settingUp,
  'drain-requested': (t) => t.drainRequested,
  draining: (t) => t.draining,
  terminating: (t) => t.terminating,
};
