import type { GangDemand, PlacementRule, Request, StandingDemand, TaskDemand } from '../demand.ts';
import { amountOf, type LabelSelector, sumResources } from '../resources.ts';
import type { Policy } from './policy.ts';

/** Ray gives every node one of each of these without naming it: `node:__internal_implicit_resource_<anything>`. */
const implicitPrefix = 'node:__internal_implicit_resource_';

/** Requests of one kind: what the packer works on, however many there are. */
export interface Shape {
  readonly id: number;
  readonly key: string;
  readonly request: Request;
  /** Resource indexes and amounts above zero. */
  readonly names: readonly number[];
  readonly amounts: readonly number[];
  /** Resource indexes asked for with zero: they only need a node that is not overdrawn. */
  readonly zeros: readonly number[];
  /** Names GPU at all, even with zero: then GPU nodes are fair game. */
  readonly gpu: boolean;
  /** All amounts are whole numbers: counting may divide instead of subtracting one by one. */
  readonly whole: boolean;
  readonly selectors: readonly (readonly Rule[])[];
  /** Labels that a node must not carry yet, and carries afterwards. */
  readonly apart: readonly { readonly label: number; readonly value: string }[];
  readonly order: SortKey;
}

interface Rule {
  readonly label: number;
  readonly inside: boolean;
  readonly values: ReadonlySet<string>;
}

interface SortKey {
  readonly placement: number;
  readonly labels: number;
  readonly names: number;
  readonly sum: number;
  readonly items: readonly (readonly [string, number])[];
}

/** Equal requests that stand together in packing order. */
export interface ShapeRun {
  readonly shape: Shape;
  readonly count: number;
}

/** Names that some demand of this pass mentions, as indexes; everything else about a node is background. */
export class Vocabulary {
  readonly resources = new Map<string, number>();
  readonly resourceNames: string[] = [];
  /** What a node that does not name the resource has of it. */
  readonly unnamed: number[] = [];
  readonly labels = new Map<string, number>();
  private readonly byKey = new Map<string, Shape>();

  resource(name: string): number {
    let index = this.resources.get(name);
    if (index === undefined) {
      index = this.resourceNames.length;
      this.resources.set(name, index);
      this.resourceNames.push(name);
      this.unnamed.push(name.startsWith(implicitPrefix) ? 1 : 0);
    }
    return index;
  }

  label(name: string): number {
    let index = this.labels.get(name);
    if (index === undefined) {
      index = this.labels.size;
      this.labels.set(name, index);
    }
    return index;
  }

  shape(request: Request): Shape {
    const key = requestKey(request);
    let shape = this.byKey.get(key);
    if (shape === undefined) {
      shape = this.make(key, request);
      this.byKey.set(key, shape);
    }
    return shape;
  }

  private make(key: string, request: Request): Shape {
    const items = Object.entries(request.resources);
    const asked = items.filter(([, amount]) => amount > 0);
    return {
      id: this.byKey.size,
      key,
      request,
      names: asked.map(([name]) => this.resource(name)),
      amounts: asked.map(([, amount]) => amount),
      zeros: items.filter(([, amount]) => !(amount > 0)).map(([name]) => this.resource(name)),
      gpu: Object.hasOwn(request.resources, 'GPU'),
      whole: asked.every(([, amount]) => Number.isSafeInteger(amount)),
      selectors: request.selectors.map((selector) =>
        selector.map((rule) => ({
          label: this.label(rule.label),
          inside: rule.operator === 'in',
          values: new Set(rule.values),
        })),
      ),
      apart: request.placement
        .filter((rule) => rule.kind === 'apart')
        .map((rule) => ({ label: this.label(rule.label), value: rule.value })),
      order: {
        placement: request.placement.length,
        labels: request.selectors[0]?.length ?? 0,
        names: items.length,
        sum: items.reduce((sum, [, amount]) => sum + amount, 0),
        items: items.sort(([a], [b]) => compareText(a, b)),
      },
    };
  }
}

function requestKey(request: Request): string {
  const names = Object.keys(request.resources);
  if (names.length > 1) names.sort();
  let key = '';
  // The length keeps names apart whatever stands in them.
  for (const name of names) key += `${name.length}:${name}=${amountOf(request.resources, name)},`;
  if (request.selectors.length > 0) key += `|${selectorsKey(request.selectors)}`;
  if (request.placement.length > 0)
    key += `|${JSON.stringify(request.placement.map((p) => [p.kind, p.label, p.value]))}`;
  return key;
}

function selectorsKey(selectors: readonly LabelSelector[]): string {
  return JSON.stringify(selectors.map((rules) => rules.map((r) => [r.label, r.operator, [...r.values].sort()])));
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Largest first, as Ray sorts: more placement rules, more label rules, more names, larger sum, then by the items. */
function compareShapes(a: Shape, b: Shape): number {
  const x = a.order;
  const y = b.order;
  return (
    y.placement - x.placement ||
    y.labels - x.labels ||
    y.names - x.names ||
    y.sum - x.sum ||
    -compareItems(x.items, y.items)
  );
}

function compareItems(a: SortKey['items'], b: SortKey['items']): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [nameA, amountA] = a[i] as readonly [string, number];
    const [nameB, amountB] = b[i] as readonly [string, number];
    const order = compareText(nameA, nameB) || amountA - amountB;
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Requests in packing order. Equals keep the order of the input (`ray`), or are one run wherever they stood (`manta`). */
export function toRuns(demands: readonly TaskDemand[], vocabulary: Vocabulary, policy: Policy): ShapeRun[] {
  if (policy.like === 'ray') {
    const runs: { shape: Shape; count: number }[] = [];
    const sorted = demands
      .filter((demand) => demand.count > 0)
      .map((demand) => ({ shape: vocabulary.shape(demand.request), count: demand.count }))
      .sort((a, b) => compareShapes(a.shape, b.shape));
    for (const { shape, count } of sorted) {
      const last = runs.at(-1);
      if (last?.shape === shape) last.count += count;
      else runs.push({ shape, count });
    }
    return runs;
  }
  const counts = new Map<Shape, number>();
  for (const { request, count } of demands) {
    if (!(count > 0)) continue;
    const shape = vocabulary.shape(request);
    counts.set(shape, (counts.get(shape) ?? 0) + count);
  }
  return [...counts]
    .map(([shape, count]) => ({ shape, count }))
    .sort((a, b) => compareShapes(a.shape, b.shape) || compareText(a.shape.key, b.shape.key));
}

/** A gang's requests with those that must share a node made one. */
export function joinTogether(requests: readonly Request[]): Request[] {
  const joined: Request[] = [];
  const groups = new Map<string, Request[]>();
  for (const request of requests) {
    const rule = request.placement.find((p) => p.kind === 'together');
    if (rule === undefined) {
      joined.push(request);
      continue;
    }
    const key = JSON.stringify([rule.label, rule.value, selectorsKey(request.selectors)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  for (const group of groups.values()) joined.push(joinOne(group));
  return joined;
}

function joinOne(group: readonly Request[]): Request {
  const first = group[0] as Request;
  const resources = sumResources(group.map((request) => request.resources));
  const rules = new Map<string, PlacementRule>();
  for (const request of group)
    for (const rule of request.placement) rules.set(JSON.stringify([rule.kind, rule.label, rule.value]), rule);
  return { resources, selectors: first.selectors, placement: [...rules.values()] };
}

/** Gangs in packing order: more placement rules first, then more requests. */
export function gangOrder(gangs: readonly GangDemand[], policy: Policy): GangDemand[] {
  const keyed = gangs.map((gang) => ({
    gang,
    rules: gang.weight?.[0] ?? gang.requests.reduce((sum, request) => sum + request.placement.length, 0),
    requests: gang.weight?.[1] ?? gang.requests.length,
    text: policy.like === 'ray' ? '' : `${gang.requests.map(requestKey).sort().join(';')}#${gang.id}`,
  }));
  keyed.sort((a, b) => b.rules - a.rules || b.requests - a.requests || compareText(a.text, b.text));
  return keyed.map(({ gang }) => gang);
}

/** Standing requests in packing order: as given, or whatever the order in which they were given. */
export function standingOrder(standing: readonly StandingDemand[], policy: Policy): readonly StandingDemand[] {
  if (policy.like === 'ray' || standing.length < 2) return standing;
  const keyed = standing.map((one) => ({
    one,
    text: one.requests
      .map(({ request, count }) => `${count}x${requestKey(request)}`)
      .sort()
      .join(';'),
  }));
  return keyed.sort((a, b) => compareText(a.text, b.text)).map(({ one }) => one);
}
