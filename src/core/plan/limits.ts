import type { InstanceView } from '../instance.ts';
import { amountOf } from '../resources.ts';
import { type Bin, isExempt } from './packing/bin.ts';
import type { Pass } from './pass.ts';
import type { EndReason } from './plan.ts';
import type { TypeInfo } from './state.ts';

/** Nothing is ended unless provider and engine both answered in full. */
export const mayEnd = ({ view }: Pass): boolean => view.complete.engine && view.complete.provider;

/** Nodes of this pass that the spec's limits do not count. Ray's count the head. */
const exempt = (bins: readonly Bin[], type?: TypeInfo): number =>
  bins.reduce((sum, bin) => sum + (isExempt(bin) && (type === undefined || bin.state.type === type) ? 1 : 0), 0);

/** Nodes, the head among them, that the cluster may have. */
function nodeLimit(pass: Pass): number {
  return pass.spec.maxWorkers === undefined ? Number.POSITIVE_INFINITY : pass.spec.maxWorkers + exempt(pass.bins);
}

const typeLimit = (pass: Pass, type: TypeInfo): number =>
  type.spec === undefined ? Number.POSITIVE_INFINITY : type.spec.maxWorkers + exempt(pass.bins, type);

export const typeFloor = (pass: Pass, type: TypeInfo): number =>
  type.spec === undefined ? 0 : Math.min(type.spec.minWorkers, type.spec.maxWorkers) + exempt(pass.bins, type);

/** Ends nodes whose type is gone or has another launch configuration. */
export function endOutdated(pass: Pass): void {
  if (!pass.spec.replaceOutdated || !mayEnd(pass)) return;
  const outdated = new Map<TypeInfo, Bin[]>();
  for (const bin of pass.bins) {
    if (bin.fate !== 'keep' || isExempt(bin) || bin.instance === undefined) continue;
    const { type } = bin.state;
    if (type.spec === undefined) end(bin, { kind: 'type-removed' });
    else if (type.spec.launchHash !== '' && type.spec.launchHash !== launchHash(pass, bin))
      outdated.set(type, [...(outdated.get(type) ?? []), bin]);
  }
  for (const [type, bins] of outdated)
    for (const bin of pass.policy.like === 'ray' ? bins : nextInTurn(pass, type, bins)) end(bin, { kind: 'outdated' });
}

/** A quarter of a type's nodes are replaced at a time: what is still to come up, or on its way out, counts with them. */
const replacedAtOnce = 4;

function nextInTurn(pass: Pass, type: TypeInfo, outdated: readonly Bin[]): readonly Bin[] {
  const own = pass.bins.filter((bin) => bin.state.type === type && !bin.state.head);
  const away =
    own.filter((bin) => !bin.state.running && !outdated.includes(bin)).length +
    pass.outside.filter((instance) => instance.type === type.name && instance.kind === 'worker').length;
  const room = Math.max(1, Math.ceil(own.length / replacedAtOnce)) - away;
  const idle = (bin: Bin): number =>
    bin.state.running ? (bin.instance?.node?.idleFor ?? 0) : Number.POSITIVE_INFINITY;
  const units = Map.groupBy(outdated, ({ instance }) => instance?.slice ?? instance?.id);
  const idleOf = (unit: readonly Bin[]): number => Math.min(...unit.map(idle));
  const chosen: Bin[] = [];
  // Hosts of a slice end together, also where that is more than a quarter.
  for (const unit of [...units.values()].sort((a, b) => idleOf(b) - idleOf(a)))
    if (room > 0 && (chosen.length === 0 || chosen.length + unit.length <= room)) chosen.push(...unit);
  return chosen;
}

/** Ray forgets the hash of an instance that is still pending; an instance without one is of unknown make to Manta. */
function launchHash(pass: Pass, { instance, state }: Bin): string | undefined {
  if (pass.policy.like === 'ray') return state.running ? (instance?.launchHash ?? '') : '';
  return instance?.launchHash ?? state.type.spec?.launchHash;
}

export function end(bin: Bin, reason: EndReason): void {
  bin.fate = 'end';
  bin.end = reason;
}

/** Ends what exceeds the limit of each type. */
export function endAboveTypeLimits(pass: Pass): void {
  if (!mayEnd(pass)) return;
  const byType = new Map<TypeInfo, Bin[]>();
  for (const bin of pass.bins) {
    if (bin.fate === 'end') continue;
    const group = byType.get(bin.state.type);
    if (group === undefined) byType.set(bin.state.type, [bin]);
    else group.push(bin);
  }
  const ended = pass.bins.filter((bin) => bin.fate === 'end');
  const kept: Bin[] = [];
  for (const [type, group] of byType) {
    const max = typeLimit(pass, type);
    const { victims, others } = chooseVictims(pass, group, group.length - max);
    for (const bin of victims) end(bin, { kind: 'type-limit', max: type.spec?.maxWorkers ?? max });
    ended.push(...victims);
    kept.push(...others);
  }
  if (pass.policy.like === 'ray') pass.bins = [...ended, ...kept];
}

/** Ends what exceeds the limit of the cluster. */
export function endAboveClusterLimit(pass: Pass): void {
  const max = nodeLimit(pass);
  // Ray takes a limit of no node at all, the head included, for no limit.
  if (!mayEnd(pass) || (pass.policy.like === 'ray' && max === 0)) return;
  const ended = pass.bins.filter((bin) => bin.fate === 'end');
  const live = pass.bins.filter((bin) => bin.fate !== 'end');
  if (live.length <= max) return;
  const { victims, others } = chooseVictims(pass, live, live.length - max);
  for (const bin of victims) end(bin, { kind: 'cluster-limit', max: pass.spec.maxWorkers ?? max });
  if (pass.policy.like === 'ray') pass.bins = [...ended, ...victims, ...others];
}

/** The least loss first: what runs no node yet, then what is idle longest, then what is least used. Never the head, nor what was added by hand. */
function chooseVictims(pass: Pass, bins: readonly Bin[], count: number): { victims: Bin[]; others: readonly Bin[] } {
  if (count <= 0) return { victims: [], others: bins };
  const asRay = pass.policy.like === 'ray';
  const keyed = bins.map((bin) => ({ bin, loss: loss(bin) }));
  // Manta's bins stand with the most useful first: of equals the last goes first.
  if (!asRay) keyed.reverse();
  keyed.sort((a, b) => a.loss.runs - b.loss.runs || b.loss.idle - a.loss.idle || a.loss.used - b.loss.used);
  const sorted = keyed.map(({ bin }) => bin);
  if (asRay) {
    const at = sorted.findIndex(({ state }) => state.head);
    const head = at < 0 ? [] : sorted.splice(at, 1);
    return { victims: sorted.slice(0, count), others: [...sorted.slice(count), ...head] };
  }
  const workers = sorted.filter((bin) => !isExempt(bin));
  const victims = wholeSlices(workers, workers.slice(0, count));
  return { victims, others: [] };
}

/** Hosts of one slice end together. */
function wholeSlices(workers: readonly Bin[], victims: readonly Bin[]): Bin[] {
  const slices = new Set(victims.map(({ instance }) => instance?.slice).filter((slice) => slice !== undefined));
  if (slices.size === 0) return [...victims];
  return workers.filter(
    (bin) => victims.includes(bin) || (bin.instance?.slice !== undefined && slices.has(bin.instance.slice)),
  );
}

function loss({ instance, state }: Bin): { runs: number; idle: number; used: number } {
  const node = state.running ? instance?.node : undefined;
  if (node === undefined) return { runs: 0, idle: 0, used: 0 };
  let sum = 0;
  let names = 0;
  for (const [name, total] of Object.entries(node.total)) {
    if (!(total > 0)) continue;
    sum += (total - amountOf(node.available, name)) / total;
    names++;
  }
  return { runs: node.id === '' ? 0 : 1, idle: node.idleFor, used: names === 0 ? 0 : sum / names };
}

/** Launches up to the floor of each type. */
export function launchFloors(pass: Pass): void {
  const launches: Bin[] = [];
  for (const type of pass.types) {
    const have = pass.bins.filter((bin) => bin.fate !== 'end' && bin.state.type === type).length;
    const missing = typeFloor(pass, type) - have;
    const state = pass.fresh.get(type);
    const later = pass.freshLater.get(type);
    if (missing <= 0 || state === undefined || later === undefined) continue;
    if (pass.policy.like === 'ray') {
      // Ray puts one node there several times over; what later ends one of them ends all.
      const bin: Bin = { state, fate: 'launch', launch: { kind: 'min-workers', served: [] }, shared: true };
      for (let n = 0; n < missing; n++) launches.push(bin);
      continue;
    }
    const room = Math.min(typeRoom(pass, type), clusterRoom(pass) - launches.length);
    if (pass.offers.get(type)?.offer === undefined) continue;
    const units = Math.min(Math.ceil(missing / type.hosts), Math.floor(room / type.hosts));
    for (let unit = 0; unit < units; unit++)
      for (let host = 0; host < type.hosts; host++)
        launches.push({
          state: host === 0 ? state : later,
          fate: 'launch',
          launch: { kind: 'min-workers', served: [], slice: unit },
        });
  }
  if (launches.length === 0) return;
  pass.bins = pass.policy.like === 'ray' ? [...launches, ...pass.bins] : [...pass.bins, ...launches];
}

/** Instances of a type that may still be launched. What is on its way out holds its place until it is gone. */
export function typeRoom(pass: Pass, type: TypeInfo): number {
  const inside = pass.bins.reduce((sum, { state }) => sum + (state.type === type ? 1 : 0), 0);
  const limit = typeLimit(pass, type);
  if (pass.policy.like === 'ray') return limit - inside;
  return limit - inside - leavingWorkers(pass, type).length;
}

export function clusterRoom(pass: Pass): number {
  const limit = nodeLimit(pass) - pass.bins.length;
  if (pass.policy.like === 'ray') return limit;
  return limit - leavingWorkers(pass).length;
}

/** Workers that take no demand and hold their place. One that the provider takes back holds none: its successor has it. */
export const leavingWorkers = (pass: Pass, type?: TypeInfo): readonly InstanceView[] =>
  pass.outside.filter(
    (one) => one.kind === 'worker' && one.takenBackAt === undefined && (type === undefined || one.type === type.name),
  );
