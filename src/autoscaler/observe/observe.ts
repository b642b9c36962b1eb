import type { Duration, Instant } from '../../base/time/clock.ts';
import { type Demand, displaced } from '../../core/demand.ts';
import type { InstanceId, InstanceView, NodeTypeName, NodeView } from '../../core/instance.ts';
import {
  type Advance,
  advance,
  type InstanceOutcome,
  type InstanceRecord,
  isFinal,
  isPending,
  type LifecycleTimeouts,
  type Observation,
} from '../../core/lifecycle.ts';
import type { View } from '../../core/view.ts';
import type { EngineNode, EngineState } from '../../engines/engine.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { ScalingFact } from '../journal.ts';
import type { Ledger } from '../ledger.ts';
import { launchedAs, matchMachines, nodesOf } from './match.ts';

/** What the two sides answered; a side is missing when it did not answer in full. */
export interface Answers {
  readonly instances?: readonly ProviderInstance[];
  /** When `instances` were asked for. */
  readonly listedAt?: Instant;
  readonly state?: EngineState;
}

/** A setup that has failed, and what was said. */
export interface FailedSetUp {
  readonly at: Instant;
  readonly reason: string;
}

/** How to read them. */
export interface Reading {
  readonly now: Instant;
  readonly timeoutsOf: (type: NodeTypeName) => LifecycleTimeouts;
  /** A machine seen again less than this after its end is an old list's doing. */
  readonly listLag: number;
  /** A launch with this token is being asked for right now: its machines are not strays. */
  readonly launching: (token: string) => boolean;
  /** Each is taken in with a list that was asked for after it. */
  readonly failedSetUp: (id: InstanceId) => FailedSetUp | undefined;
  readonly newId: () => InstanceId;
}

/** Facts that bring the ledger up to what was answered. Changes nothing itself. */
export function readAnswers(ledger: Ledger, answers: Answers, reading: Reading): ScalingFact[] {
  const machines = answers.instances && byId(answers.instances);
  const nodes = answers.state && nodesByMachine(answers.state.nodes, ledger.formerNodes);
  const found = machines === undefined ? undefined : matchMachines(ledger, machines, reading);
  // What a machine was before comes first: from here on it is the instance that was asked for.
  const facts: ScalingFact[] = [...(found?.restarted ?? [])].map((record) =>
    moved(advance(record, { outcomes: [{ kind: 'restarted' }] }, reading.now), reading.now),
  );
  for (const record of ledger.records) {
    if (isFinal(record.status) || found?.restarted.has(record)) continue;
    const machineId = record.providerId ?? found?.claimed.get(record.id);
    const failed = reading.failedSetUp(record.id);
    const seen = observe(record, machineId, machines, nodes, ledger);
    const observation: Observation =
      failed !== undefined && answers.listedAt !== undefined && answers.listedAt >= failed.at
        ? { ...seen, outcomes: [{ kind: 'setup-failed', reason: failed.reason }] }
        : seen;
    const known = record.status === 'machine-stopped' ? withFormerNodes(record, answers.state?.nodes) : record;
    const step = advance(known, observation, reading.now, reading.timeoutsOf(record.type));
    if (step.record !== record || step.moves.length > 0) facts.push(moved(step, reading.now));
  }
  for (const taken of found?.adopted ?? []) {
    facts.push(taken);
    // A machine that carries a node already is not set up: its Ray would be restarted, under whatever runs there.
    const step = advance(
      taken.record,
      observe(taken.record, taken.record.providerId, machines, nodes, ledger),
      reading.now,
      reading.timeoutsOf(taken.record.type),
    );
    if (step.moves.length > 0) facts.push(moved(step, reading.now));
  }
  return facts;
}

function moved(step: Advance, at: Instant): ScalingFact {
  return { kind: 'instance', at, record: step.record, moves: step.moves };
}

function observe(
  record: InstanceRecord,
  machineId: string | undefined,
  machines: ReadonlyMap<string, ProviderInstance> | undefined,
  nodes: ReadonlyMap<string, EngineNode> | undefined,
  ledger: Ledger,
): Observation {
  const machine = machineId === undefined ? undefined : machines?.get(machineId);
  const node = machineId === undefined ? undefined : nodes?.get(machineId);
  const outcomes: InstanceOutcome[] = [];
  if (machine !== undefined && (record.providerId === undefined || isOfAnotherSlice(record, machine)))
    outcomes.push(launchedAs(machine, ledger));
  if (machine?.failed !== undefined) {
    if (!isPending(record.status)) return { machine: 'absent' };
    const { kind, detail } = machine.failed;
    return { outcomes: [...outcomes, { kind: 'refused-late', reason: detail ? `${kind}: ${detail}` : kind }] };
  }
  return {
    ...(outcomes.length > 0 && { outcomes }),
    ...(machines === undefined || machineId === undefined ? {} : { machine: machine?.state ?? 'absent' }),
    ...(nodes === undefined || machineId === undefined
      ? {}
      : { node: node === undefined ? { state: 'absent' } : { state: node.state, id: node.id } }),
  };
}

const isOfAnotherSlice = (record: InstanceRecord, { slice }: ProviderInstance): boolean =>
  slice !== undefined &&
  (slice.id !== record.slice ||
    (slice.resources !== undefined && JSON.stringify(slice.resources) !== JSON.stringify(record.extra)));

/** While a machine is stopped, every dead node that the engine knows on it is one of before. */
function withFormerNodes(record: InstanceRecord, nodes: readonly EngineNode[] = []): InstanceRecord {
  const known = nodesOf(record);
  const more = nodes.filter(
    ({ id, providerId, state }) => providerId === record.providerId && state === 'dead' && !known.includes(id),
  );
  return more.length === 0 ? record : { ...record, formerNodes: [...known, ...more.map(({ id }) => id)] };
}

const nothing: Demand = { tasks: [], gangs: [], standing: [] };

/** The view that the ledger and the answers make together. `ending`: its end is under way, whatever its status. */
export function assembleView(
  ledger: Ledger,
  answers: Answers,
  { now, demandLag, ending }: { now: Instant; demandLag: Duration; ending: (id: InstanceId) => boolean },
): View {
  const nodes = nodesByMachine(answers.state?.nodes ?? [], ledger.formerNodes);
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
      ...((ending(record.id) || (record.status === 'machine-stopped' && record.machineOff !== true)) && {
        ending: true,
      }),
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
    ...(record.extra === undefined ? {} : { extra: record.extra }),
  };
}

/** A list may name a machine twice. */
const byId = (instances: readonly ProviderInstance[]): ReadonlyMap<string, ProviderInstance> =>
  new Map(instances.map((instance) => [instance.id, instance]));

const liveliness = { alive: 2, draining: 1, dead: 0 };

/** The node of each machine: of several, the one that is most alive. Those of an earlier life of a machine are `former`. */
export function nodesByMachine(
  nodes: readonly EngineNode[],
  former: ReadonlySet<string>,
): ReadonlyMap<string, EngineNode> {
  const found = new Map<string, EngineNode>();
  for (const node of nodes) {
    if (node.providerId === undefined || former.has(node.id)) continue;
    const other = found.get(node.providerId);
    if (other === undefined || liveliness[node.state] > liveliness[other.state]) found.set(node.providerId, node);
  }
  return found;
}
