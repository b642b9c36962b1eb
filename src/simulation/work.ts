import { ownValue } from '../base/own-value.ts';
import type { Duration, Instant } from '../base/time/clock.ts';
import type { GangDemand, PlacementRule, Request } from '../core/demand.ts';
import { amountOf, type LabelSelector, type Labels, type Resources, sumResources } from '../core/resources.ts';
import type { Strategy } from './scenario/scenario.ts';
import type { Timer } from './virtual-time.ts';

/** A task or actor of a simulated driver. */
export interface Work {
  readonly id: number;
  readonly kind: 'task' | 'actor';
  readonly shape: WorkShape;
  readonly duration: Duration;
  readonly submittedAt: Instant;
  startedAt: Instant | undefined;
  timer: Timer | undefined;
}

/** All tasks that ask for the same thing, and those of them that wait. */
export interface WorkShape {
  readonly request: Request;
  readonly waiting: Work[];
}

/** A placement group with the job that runs in it. */
export interface Gang {
  readonly id: number;
  readonly kind: 'gang';
  readonly bundles: readonly Resources[];
  readonly strategy: Strategy;
  readonly demand: GangDemand;
  readonly duration: Duration;
  readonly submittedAt: Instant;
  startedAt: Instant | undefined;
  timer: Timer | undefined;
  /** Node of each bundle while it is placed. */
  places: readonly SimulatedNode[];
}

export interface SimulatedNode {
  readonly id: string;
  readonly machine: string;
  readonly type: string;
  readonly head: boolean;
  readonly total: Resources;
  readonly available: Record<string, number>;
  readonly labels: Labels;
  readonly running: Set<Work | Gang>;
  state: 'alive' | 'draining' | 'dead';
  idleSince: Instant;
  joinedAt: Instant;
  diedAt: Instant;
  /** Time with something running on it, up to `idleSince` or the start of what runs now. */
  busyFor: Duration;
  busySince: Instant;
}

/** Time until `now` in which something ran on the node. */
export const busyTime = (node: SimulatedNode, now: Instant): Duration =>
  node.busyFor + (node.running.size > 0 ? now - node.busySince : 0);

const slack = 1e-9;

export function fits(node: SimulatedNode, resources: Resources): boolean {
  for (const name in resources) {
    if ((resources[name] as number) > amountOf(node.available, name) + slack) return false;
  }
  return true;
}

export function take(node: SimulatedNode, resources: Resources): void {
  for (const name in resources) node.available[name] = amountOf(node.available, name) - (resources[name] as number);
}

export function give(node: SimulatedNode, resources: Resources): void {
  for (const name in resources) node.available[name] = amountOf(node.available, name) + (resources[name] as number);
}

/** True when the labels satisfy one of the selectors, or there is none. */
export function matches(labels: Labels, selectors: readonly LabelSelector[]): boolean {
  if (selectors.length === 0) return true;
  return selectors.some((selector) =>
    selector.every((rule) => rule.values.includes(ownValue(labels, rule.label) ?? '') === (rule.operator === 'in')),
  );
}

/** Where each bundle of a gang can go now; undefined when not all of them can. */
export function placeGang(gang: Gang, nodes: readonly SimulatedNode[]): readonly SimulatedNode[] | undefined {
  if (gang.strategy === 'STRICT_PACK') {
    const sum = sumResources(gang.bundles);
    const node = nodes.find((each) => fits(each, sum));
    return node && gang.bundles.map(() => node);
  }
  const places: SimulatedNode[] = [];
  const taken: [SimulatedNode, Resources][] = [];
  for (const bundle of gang.bundles) {
    const unused = (node: SimulatedNode): boolean => fits(node, bundle) && !places.includes(node);
    const node =
      gang.strategy === 'STRICT_SPREAD'
        ? nodes.find(unused)
        : gang.strategy === 'SPREAD'
          ? (nodes.find(unused) ?? nodes.find((each) => fits(each, bundle)))
          : nodes.find((each) => fits(each, bundle));
    if (node === undefined) break;
    take(node, bundle);
    taken.push([node, bundle]);
    places.push(node);
  }
  for (const [node, bundle] of taken) give(node, bundle);
  return places.length === gang.bundles.length ? places : undefined;
}

/** The gang as the engine reports it while it waits, in Ray's terms. */
export function gangDemand(id: number, bundles: readonly Resources[], strategy: Strategy): GangDemand {
  const name = `pg-${id}`;
  const rules: PlacementRule[] =
    strategy === 'STRICT_SPREAD'
      ? [{ kind: 'apart', label: `_PG_${name}`, value: '' }]
      : strategy === 'STRICT_PACK'
        ? [{ kind: 'together', label: `_PG_${name}`, value: '' }]
        : [];
  return {
    id: name,
    requests: bundles.map((resources) => ({ resources, selectors: [], placement: rules })),
    details: `${name}:${strategy}|PENDING`,
  };
}
