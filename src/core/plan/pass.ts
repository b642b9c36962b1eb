import { ownValue } from '../../base/own-value.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { GangDemand, StandingDemand } from '../demand.ts';
import type { InstanceView, NodeTypeName } from '../instance.ts';
import { isFinal, isPending } from '../lifecycle.ts';
import type { Resources } from '../resources.ts';
import type { ScalingSpec } from '../scaling.ts';
import type { View } from '../view.ts';
import { addedPrice, type BestOffer, bestOffer } from './offers.ts';
import type { Bin } from './packing/bin.ts';
import { type ComparedPrice, comparedPrices } from './packing/compared-price.ts';
import type { Packer } from './packing/pack.ts';
import type { Policy } from './policy.ts';
import { compareText, gangOrder, joinTogether, type ShapeRun, standingOrder, toRuns, Vocabulary } from './shape.ts';
import { type State, States, type TypeInfo } from './state.ts';

/** Everything one call of `plan` works on. Made again for each call; nothing outlives it. */
export interface Pass extends Packer {
  readonly view: View;
  readonly spec: ScalingSpec;
  readonly now: Instant;
  readonly policy: Policy;
  /** In the order of the spec. */
  readonly types: readonly TypeInfo[];
  readonly offers: ReadonlyMap<TypeInfo, BestOffer>;
  /** What types with a known price count as costing. */
  readonly compared: ReadonlyMap<TypeInfo, ComparedPrice>;
  /** A new node of each type: of a slice, its first host. */
  readonly fresh: ReadonlyMap<TypeInfo, State>;
  /** Every other host of a new slice. */
  readonly freshLater: ReadonlyMap<TypeInfo, State>;
  readonly tasks: readonly ShapeRun[];
  readonly gangs: readonly { readonly gang: GangDemand; readonly runs: readonly ShapeRun[] }[];
  readonly standing: readonly { readonly standing: StandingDemand; readonly runs: readonly ShapeRun[] }[];
  /** Nodes that demand may be placed on, and those to launch. In tie order. */
  bins: Bin[];
  /** Instances that take no demand: on their way out, being ended, taken back by the provider, or not understood. */
  readonly outside: readonly InstanceView[];
  /** Instances whose machines are stopped: they cost money and do nothing. */
  readonly stopped: readonly InstanceView[];
}

export function openPass(view: View, spec: ScalingSpec, now: Instant, policy: Policy): Pass {
  const asRay = policy.like === 'ray';
  const vocabulary = new Vocabulary();
  const tasks = toRuns(view.demand.tasks, vocabulary, policy);
  const gangs = gangOrder(view.demand.gangs, policy).map((gang) => ({
    gang,
    runs: toRuns(
      joinTogether(gang.requests).map((request) => ({ request, count: 1 })),
      vocabulary,
      policy,
    ),
  }));
  const standing = standingOrder(view.demand.standing, policy).map((one) => ({
    standing: one,
    runs: toRuns(one.requests, vocabulary, policy),
  }));
  const states = new States(vocabulary, asRay);

  const offers = new Map<TypeInfo, BestOffer>();
  const fresh = new Map<TypeInfo, State>();
  const freshLater = new Map<TypeInfo, State>();
  const types = spec.nodeTypes.map((type, index): TypeInfo => {
    const offer = bestOffer(type, view.memory.refusals, now);
    const memory = view.memory.availability && ownValue(view.memory.availability, type.name);
    const info: TypeInfo = {
      index,
      name: type.name,
      spec: type,
      resources: type.resources,
      priority: type.priority,
      recoverable: memory?.recoverable ?? 1,
      availability: memory?.recent ?? 1,
      hosts: Math.max(1, type.hostsPerSlice),
      price: addedPrice(offer.offer),
    };
    offers.set(info, offer);
    const stateWith = (total: Resources): State =>
      states.of({ type: info, head: false, running: false, total, available: total, labels: type.labels });
    fresh.set(info, stateWith({ ...type.resources, ...type.firstHost }));
    freshLater.set(info, stateWith(type.resources));
    return info;
  });
  const byName = new Map(types.map((type) => [type.name, type]));
  const { bins, outside, stopped } = readInstances(view, spec, policy, byName, states);
  const compared = asRay ? new Map() : comparedPrices(types, view.instances, tasks);
  return {
    ...{ view, spec, now, policy, vocabulary, states, types, offers, compared, fresh, freshLater },
    ...{ tasks, gangs, standing, bins, outside, stopped },
  };
}

/** What is added by hand is of no type of the spec, whatever it calls itself. */
const byHandType = '';

/** A type that instances still have and the spec no longer has. */
function removedType(name: NodeTypeName, index: number): TypeInfo {
  return {
    index,
    name,
    spec: undefined,
    resources: {},
    priority: 0,
    recoverable: 1,
    availability: 1,
    hosts: 1,
    price: undefined,
  };
}

function readInstances(
  view: View,
  spec: ScalingSpec,
  policy: Policy,
  byName: Map<NodeTypeName, TypeInfo>,
  states: States,
): Pick<Pass, 'bins' | 'outside' | 'stopped'> {
  const asRay = policy.like === 'ray';
  const bins: Bin[] = [];
  const outside: InstanceView[] = [];
  const stopped: InstanceView[] = [];
  const typeOf = (name: NodeTypeName): TypeInfo => {
    let type = byName.get(name);
    if (type === undefined) {
      type = removedType(name, byName.size);
      byName.set(name, type);
    }
    return type;
  };
  const instances = asRay ? view.instances : [...view.instances].sort((a, b) => compareInstances(a, b, byName));
  for (const instance of instances) {
    const { node, status } = instance;
    const head = instance.kind === 'head';
    const unmanaged = asRay && instance.unmanaged === true;
    const leaves = !asRay && !head && (instance.takenBackAt !== undefined || instance.ending === true);
    if (!countsAsNode(instance, policy) || leaves) {
      if (status === 'machine-stopped' && instance.ending !== true) stopped.push(instance);
      else if (!isFinal(status)) outside.push(instance);
      continue;
    }
    const type = typeOf(instance.byHand ? byHandType : instance.type);
    if (status === 'running' && node !== undefined) {
      const state = states.of({
        type,
        head,
        unmanaged,
        running: true,
        total: node.total,
        available: node.available,
        labels: node.labels,
      });
      bins.push({ state, fate: 'keep', instance });
      continue;
    }
    if (type.spec === undefined) {
      const complete = view.complete.engine && view.complete.provider;
      if (!spec.replaceOutdated || (!asRay && (head || !complete))) {
        outside.push(instance);
        continue;
      }
      const state = states.of({ type, head: false, running: false, total: {}, available: {}, labels: {} });
      bins.push({ state, fate: 'end', end: { kind: 'type-removed' }, instance });
      continue;
    }
    const { labels } = type.spec;
    const resources = instance.extra ? { ...type.spec.resources, ...instance.extra } : type.spec.resources;
    bins.push({
      state: states.of({ type, head, unmanaged, running: false, total: resources, available: resources, labels }),
      fate: 'keep',
      instance,
    });
  }
  return { bins, outside, stopped };
}

/** Whether demand may be placed on it. Ray also counts on nodes that it has asked to stop. */
export function countsAsNode(instance: InstanceView, policy: Policy): boolean {
  if (instance.status === 'running') return instance.node !== undefined;
  return isPending(instance.status) || (policy.like === 'ray' && instance.status === 'drain-requested');
}

const progress: Readonly<Record<string, number>> = {
  running: 0,
  'setting-up': 1,
  allocated: 2,
  requested: 3,
  queued: 4,
};

/**
 * The order in which equals are used: what was added by hand first, which stays anyway; then by type, busy before idle, further along before less far, older before newer.
 * What is left over is then what is best ended.
 */
function compareInstances(a: InstanceView, b: InstanceView, types: ReadonlyMap<NodeTypeName, TypeInfo>): number {
  const rank = (instance: InstanceView): number =>
    instance.byHand ? -1 : (types.get(instance.type)?.index ?? Number.MAX_SAFE_INTEGER);
  return (
    rank(a) - rank(b) ||
    compareText(a.type, b.type) ||
    (ownValue(progress, a.status) ?? 9) - (ownValue(progress, b.status) ?? 9) ||
    (a.node?.idleFor ?? 0) - (b.node?.idleFor ?? 0) ||
    a.requestedAt - b.requestedAt ||
    compareText(a.id, b.id)
  );
}
