/** Short ways to write views and specs in tests. */
import type { Request } from '../../../src/core/demand.ts';
import type { InstanceView } from '../../../src/core/instance.ts';
import type { Launch, Plan } from '../../../src/core/plan/plan.ts';
import type { Resources } from '../../../src/core/resources.ts';
import type { ScalingSpec, ScalingType } from '../../../src/core/scaling.ts';
import type { View } from '../../../src/core/view.ts';

export const now = 10_000_000;

export const ask = (resources: Resources, more: Partial<Request> = {}): Request => ({
  resources,
  selectors: [],
  placement: [],
  ...more,
});
export const tasks = (count: number, resources: Resources): Partial<View['demand']> => ({
  tasks: [{ request: ask(resources), count }],
});

export function typeOf(name: string, resources: Resources, more: Partial<ScalingType> = {}): ScalingType {
  return {
    name,
    resources,
    labels: {},
    minWorkers: 0,
    maxWorkers: 100,
    priority: 0,
    launchHash: '',
    hostsPerSlice: 1,
    offers: [{ market: 'on-demand' }],
    ...more,
  };
}

export const priced = (price: number): Pick<ScalingType, 'offers'> => ({
  offers: [{ market: 'on-demand', pricePerHour: price }],
});

export function specOf(nodeTypes: readonly ScalingType[], more: Partial<ScalingSpec> = {}): ScalingSpec {
  return {
    idleTimeout: 300_000,
    upscalingSpeed: Number.POSITIVE_INFINITY,
    nodeTypes,
    headType: 'head',
    replaceOutdated: false,
    ...more,
  };
}

export function viewOf(
  instances: readonly InstanceView[],
  demand: Partial<View['demand']> = {},
  more: Partial<View> = {},
): View {
  return {
    at: now,
    complete: { engine: true, provider: true },
    instances,
    demand: { tasks: [], gangs: [], standing: [], ...demand },
    memory: { refusals: [], unneededSince: {} },
    ...more,
  };
}

let number = 0;

export function running(
  type: ScalingType,
  available: Resources,
  more: Partial<InstanceView> = {},
  idleFor = 0,
): InstanceView {
  const id = more.id ?? `${type.name}-${++number}`;
  return {
    id,
    type: type.name,
    kind: 'worker',
    status: 'running',
    requestedAt: now - 600_000,
    since: now - 500_000,
    node: { id: `node-of-${id}`, total: type.resources, available, labels: type.labels, idleFor },
    ...more,
  };
}

export function pending(type: ScalingType, more: Partial<InstanceView> = {}): InstanceView {
  const id = more.id ?? `${type.name}-${++number}`;
  return {
    id,
    type: type.name,
    kind: 'worker',
    status: 'allocated',
    requestedAt: now - 60_000,
    since: now - 50_000,
    ...more,
  };
}

export const launches = (plan: Plan): Launch[] => plan.actions.filter((action) => action.kind === 'launch');

export const launchCounts = (plan: Plan): Record<string, number> =>
  Object.fromEntries(launches(plan).map(({ type, count }) => [type, count]));

export const ends = (plan: Plan): string[] =>
  plan.actions
    .flatMap((action) => (action.kind === 'launch' ? [] : [`${action.kind} ${action.instance} ${action.because.kind}`]))
    .sort();
