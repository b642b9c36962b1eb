import type { Duration, Instant } from '../base/clock.ts';
import { type Demand, displaced } from '../core/demand.ts';
import type { InstanceId, InstanceView, NodeView } from '../core/instance.ts';
import {
  type Advance,
  advance,
  type InstanceRecord,
  isFinal,
  type LifecycleTimeouts,
  type Observation,
} from '../core/lifecycle.ts';
import type { View } from '../core/view.ts';
import type { EngineNode, EngineState } from '../engines/engine.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import type { Fact } from './journal.ts';
import type { Ledger } from './ledger.ts';

/** What the two sides answered; a side is missing when it did not answer in full. */
export interface Answers {
  readonly instances?: readonly ProviderInstance[];
  /** When `instances` were asked for. */
  readonly listedAt?: Instant;
  readonly state?: EngineState;
}

/** A set-up that has failed, and what was said. */
export interface FailedSetUp {
  readonly at: Instant;
  readonly reason: string;
}

/** How to read them. */
export interface Reading {
  readonly now: Instant;
  readonly timeouts: LifecycleTimeouts;
  /** A machine seen again less than this after its end is an old list's doing. */
  readonly listLag: number;
  /** A launch with this token is being asked for right now: its machines are not strays. */
  readonly launching: (token: string) => boolean;
  /** Each is taken in with a list that was asked for after it. */
  readonly failedSetUps: ReadonlyMap<InstanceId, FailedSetUp>;
  readonly newId: () => InstanceId;
}

/** Facts that bring the ledger up to what was answered. Changes nothing itself. */
export function readAnswers(ledger: Ledger, answers: Answers, reading: Reading): Fact[] {
  const machines = answers.instances && byId(answers.instances);
  const nodes = answers.state && nodesByMachine(answers.state.nodes);
  const found = machines === undefined ? undefined : matchMachines(ledger, machines, reading);
  const facts: Fact[] = [];
  for (const record of ledger.records) {
    if (isFinal(record.status)) continue;
    const machineId = record.providerId ?? found?.claimed.get(record.id);
    const failed = reading.failedSetUps.get(record.id);
    const seen = observe(record, machineId, machines, nodes);
    const observation: Observation =
      failed !== undefined && answers.listedAt !== undefined && answers.listedAt >= failed.at
        ? { ...seen, outcomes: [{ kind: 'setup-failed', reason: failed.reason }] }
        : seen;
    const step = advance(record, observation, reading.now, reading.timeouts);
    if (step.record !== record || step.moves.length > 0) facts.push(moved(step, reading.now));
  }
  for (const taken of found?.adopted ?? []) {
    facts.push(taken);
    // A machine that carries a node already is not set up: its Ray would be started anew, under whatever runs there.
    const step = advance(
      taken.record,
      observe(taken.record, taken.record.providerId, machines, nodes),
      reading.now,
      reading.timeouts,
    );
    if (step.moves.length > 0) facts.push(moved(step, reading.now));
  }
  return facts;
}

function moved(step: Advance, at: Instant): Fact {
  return { kind: 'instance', at, record: step.record, moves: step.moves };
}

function observe(
  record: InstanceRecord,
  machineId: string | undefined,
  machines: ReadonlyMap<string, ProviderInstance> | undefined,
  nodes: ReadonlyMap<string, EngineNode> | undefined,
): Observation {
  const machine = machineId === undefined ? undefined : machines?.get(machineId);
  const node = machineId === undefined ? undefined : nodes?.get(machineId);
  return {
    ...(record.providerId === undefined && machineId !== undefined
      ? { outcomes: [{ kind: 'launched', providerId: machineId }] }
      : {}),
    ...(machines === undefined || machineId === undefined ? {} : { machine: machine?.state ?? 'absent' }),
    ...(nodes === undefined || machineId === undefined
      ? {}
      : { node: node === undefined ? { state: 'absent' } : { state: node.state, id: node.id } }),
  };
}

type Adopted = Extract<Fact, { kind: 'adopted' }>;

/** Ties machines to the records that asked for them, and takes in those that nobody asked for. */
function matchMachines(
  ledger: Ledger,
  machines: ReadonlyMap<string, ProviderInstance>,
  reading: Reading,
): { readonly claimed: ReadonlyMap<InstanceId, string>; readonly adopted: readonly Adopted[] } {
  const claimed = new Map<InstanceId, string>();
  const adopted: Adopted[] = [];
  for (const machine of machines.values()) {
    const known = ledger.ofMachine(machine.id);
    if (known !== undefined) {
      const back =
        isFinal(known.status) && reading.now - known.since >= reading.listLag && machine.state !== 'stopping';
      if (back) adopted.push(adopt(machine, 'stopped', { kind: 'ended-before', instance: known.id }, reading));
      continue;
    }
    const ofToken = ledger.ofToken(machine.launchToken);
    const free = ofToken.find(
      (record) => record.providerId === undefined && !isFinal(record.status) && !claimed.has(record.id),
    );
    if (free !== undefined) {
      claimed.set(free.id, machine.id);
    } else if (machine.state !== 'stopping' && !reading.launching(machine.launchToken)) {
      const why =
        ofToken.length > 0 ? { kind: 'extra' as const, token: machine.launchToken } : { kind: 'unknown' as const };
      adopted.push(adopt(machine, 'allocated', why, reading));
    }
  }
  return { claimed, adopted };
}

function adopt(
  machine: ProviderInstance,
  status: 'allocated' | 'stopped',
  why: Adopted['why'],
  reading: Reading,
): Adopted {
  return {
    kind: 'adopted',
    at: reading.now,
    why,
    record: {
      id: reading.newId(),
      type: machine.type,
      kind: machine.kind,
      status,
      requestedAt: machine.launchedAt,
      since: reading.now,
      attempts: 1,
      launchToken: machine.launchToken,
      providerId: machine.id,
      ...(machine.zone === undefined ? {} : { zone: machine.zone }),
      ...(machine.market === undefined ? {} : { market: machine.market }),
    },
  };
}

const nothing: Demand = { tasks: [], gangs: [], standing: [] };

/** The view that the ledger and the answers make together. `ending`: its end is under way, whatever its status. */
export function assembleView(
  ledger: Ledger,
  answers: Answers,
  { now, demandLag, ending }: { now: Instant; demandLag: Duration; ending: (id: InstanceId) => boolean },
): View {
  const nodes = nodesByMachine(answers.state?.nodes ?? []);
  const notices = takenBack(ledger, answers.instances ?? []);
  const demand = answers.state?.demand ?? nothing;
  const instances: InstanceView[] = [];
  for (const record of ledger.records) {
    if (isFinal(record.status)) continue;
    const node = record.providerId === undefined ? undefined : nodes.get(record.providerId);
    const isNew = record.status === 'running' && now - record.since < demandLag;
    const shown = node !== undefined && isNew ? { ...node, available: node.total } : node;
    const takenBackAt = record.providerId === undefined ? undefined : notices.get(record.providerId);
    instances.push({
      ...viewOf(record, shown?.state === 'dead' ? undefined : shown),
      ...(takenBackAt !== undefined && { takenBackAt }),
      ...(ending(record.id) && { ending: true }),
    });
  }
  for (const node of answers.state?.nodes ?? []) {
    const ofLedger = node.providerId !== undefined && ledger.ofMachine(node.providerId) !== undefined;
    if (node.state === 'alive' && !node.head && !ofLedger) instances.push(addedByHand(node, now));
  }
  return {
    at: now,
    complete: { engine: answers.state !== undefined, provider: answers.instances !== undefined },
    instances,
    demand: { ...demand, tasks: [...demand.tasks, ...displaced([...going(notices, nodes)])] },
    memory: ledger.memory,
  };
}

/**
 * The machines that the provider has announced to take back, and when. Hosts of a slice only work together: where one is
 * taken back all of them are.
 */
export function takenBack(ledger: Ledger, instances: readonly ProviderInstance[]): ReadonlyMap<string, Instant> {
  const notices = new Map<string, Instant>();
  const slices = new Map<string, Instant>();
  for (const { id, preemptionAt } of instances) {
    if (preemptionAt === undefined) continue;
    notices.set(id, preemptionAt);
    const slice = ledger.ofMachine(id)?.slice;
    if (slice !== undefined) slices.set(slice, Math.min(preemptionAt, slices.get(slice) ?? preemptionAt));
  }
  if (slices.size === 0) return notices;
  for (const { slice, providerId } of ledger.records) {
    const at = slice === undefined ? undefined : slices.get(slice);
    if (at !== undefined && providerId !== undefined && !notices.has(providerId)) notices.set(providerId, at);
  }
  return notices;
}

/** Nodes whose machine the provider has announced to take back, and those that are emptied while work is on them. */
function* going(
  notices: ReadonlyMap<string, Instant>,
  nodes: ReadonlyMap<string, EngineNode>,
): Generator<EngineNode, void> {
  for (const [machine, node] of nodes)
    if (!node.head && (node.state === 'draining' || (node.state === 'alive' && notices.has(machine)))) yield node;
}

/** A node that nobody asked a provider for, under the names that Ray's status gives it. */
const addedByHand = (node: EngineNode, now: Instant): InstanceView => ({
  id: node.id,
  type: node.type ?? `node_${node.id}`,
  kind: 'worker',
  status: 'running',
  requestedAt: now,
  since: now,
  byHand: true,
  ...(node.providerId === undefined ? {} : { providerId: node.providerId }),
  node,
});

function viewOf(record: InstanceRecord, node: NodeView | undefined): InstanceView {
  return {
    id: record.id,
    type: record.type,
    kind: record.kind,
    status: record.status,
    requestedAt: record.requestedAt,
    since: record.since,
    ...(record.zone === undefined ? {} : { zone: record.zone }),
    ...(record.market === undefined ? {} : { market: record.market }),
    ...(record.providerId === undefined ? {} : { providerId: record.providerId }),
    ...(node === undefined ? {} : { node }),
    ...(record.launchHash === undefined ? {} : { launchHash: record.launchHash }),
    ...(record.slice === undefined ? {} : { slice: record.slice }),
  };
}

/** A list may name a machine twice. */
const byId = (instances: readonly ProviderInstance[]): ReadonlyMap<string, ProviderInstance> =>
  new Map(instances.map((instance) => [instance.id, instance]));

const liveliness = { alive: 2, draining: 1, dead: 0 };

/** The node of each machine: of several, the one that is most alive. */
export function nodesByMachine(nodes: readonly EngineNode[]): ReadonlyMap<string, EngineNode> {
  const found = new Map<string, EngineNode>();
  for (const node of nodes) {
    if (node.providerId === undefined) continue;
    const other = found.get(node.providerId);
    if (other === undefined || liveliness[node.state] > liveliness[other.state]) found.set(node.providerId, node);
  }
  return found;
}
