/** Random views and specs for property tests of the planner. */

import type { Demand, GangDemand, Request } from '../../../src/core/demand.ts';
import type { InstanceStatus, InstanceView } from '../../../src/core/instance.ts';
import type { Plan } from '../../../src/core/plan/plan.ts';
import type { ScalingSpec, ScalingType } from '../../../src/core/scaling.ts';
import type { View } from '../../../src/core/view.ts';
import { fc } from '../../property.ts';

export interface World {
  readonly view: View;
  readonly spec: ScalingSpec;
  readonly now: number;
}

export const now = 1_000_000;
const typeNames = ['head', 'small', 'big', 'gpu', 'pod'] as const;

const typeArbitrary = (name: string): fc.Arbitrary<ScalingType> =>
  fc
    .record({
      cpu: fc.constantFrom(1, 2, 4, 8),
      gpu: fc.constantFrom(0, 0, 1, 4),
      zone: fc.constantFrom('a', 'b'),
      min: fc.constantFrom(0, 0, 1, 3),
      max: fc.constantFrom(0, 1, 2, 4, 8),
      idle: fc.option(fc.constantFrom(0, 60_000), { nil: undefined }),
      priority: fc.constantFrom(0, 0, 1),
      price: fc.option(fc.constantFrom(0.1, 0.2, 0.5, 1.3), { nil: undefined }),
      spot: fc.boolean(),
    })
    .map(({ cpu, gpu, zone, min, max, idle, priority, price, spot }) => ({
      name,
      resources: gpu > 0 ? { CPU: cpu, GPU: gpu } : { CPU: cpu },
      labels: { zone },
      minWorkers: Math.min(min, max),
      maxWorkers: max,
      ...(idle === undefined ? {} : { idleTimeout: idle }),
      priority,
      launchHash: '',
      hostsPerSlice: name === 'pod' ? 2 : 1,
      offers: [
        ...(spot ? [{ market: 'spot' as const, ...(price === undefined ? {} : { pricePerHour: price / 3 }) }] : []),
        { market: 'on-demand' as const, ...(price === undefined ? {} : { pricePerHour: price }) },
      ],
    }));

const requestArbitrary: fc.Arbitrary<Request> = fc
  .record({
    cpu: fc.constantFrom(0, 0.5, 1, 1, 2, 4, 16),
    gpu: fc.constantFrom(0, 0, 0, 1),
    zone: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined, freq: 4 }),
    apart: fc.option(fc.constantFrom('x', 'y'), { nil: undefined, freq: 6 }),
  })
  .map(({ cpu, gpu, zone, apart }) => ({
    resources: { ...(cpu > 0 ? { CPU: cpu } : {}), ...(gpu > 0 ? { GPU: gpu } : {}) },
    selectors: zone === undefined ? [] : [[{ label: 'zone', operator: 'in', values: [zone] }]],
    placement: apart === undefined ? [] : [{ kind: 'apart', label: `_PG_${apart}`, value: '' }],
  }));

const gangArbitrary = fc
  .record({
    requests: fc.array(requestArbitrary, { minLength: 1, maxLength: 4 }),
    strategy: fc.constantFrom('pack', 'apart', 'together'),
  })
  .map(
    ({ requests, strategy }): Omit<GangDemand, 'id'> => ({
      requests: requests.map((request) => ({
        ...request,
        placement: strategy === 'pack' ? [] : [{ kind: strategy, label: '_PG_g', value: '' } as const],
      })),
    }),
  );

const demandArbitrary: fc.Arbitrary<Demand> = fc.record({
  tasks: fc.array(fc.record({ request: requestArbitrary, count: fc.integer({ min: 0, max: 12 }) }), { maxLength: 5 }),
  gangs: fc
    .array(gangArbitrary, { maxLength: 3 })
    .map((gangs) => gangs.map((gang, at) => ({ ...gang, id: `pg-${at}` }))),
  standing: fc.array(
    fc.record({
      requests: fc.array(fc.record({ request: requestArbitrary, count: fc.integer({ min: 1, max: 4 }) }), {
        maxLength: 2,
      }),
    }),
    { maxLength: 2 },
  ),
});

const statusArbitrary = fc.constantFrom<InstanceStatus>(
  'running', 'running', 'running', 'running', 'running', 'queued', 'requested', 'allocated', 'setting-up',
  'drain-requested', 'draining', 'stopped', 'terminating', 'terminated', 'launch-failed', 'launch-timeout',
  'setup-failed', 'terminate-failed',
); // biome-ignore format: one list

const instanceArbitrary = fc.record({
  type: fc.constantFrom(...typeNames, 'gone'),
  status: statusArbitrary,
  head: fc.constant(false),
  free: fc.constantFrom(0, 0.25, 0.5, 1),
  idleFor: fc.constantFrom(0, 0, 30_000, 90_000, 400_000),
  age: fc.integer({ min: 0, max: 600_000 }),
  unneeded: fc.option(fc.constantFrom(10_000, 40_000), { nil: undefined }),
  lost: fc.boolean(),
});

export const worldArbitrary: fc.Arbitrary<World> = fc
  .record({
    types: fc.tuple(...typeNames.map(typeArbitrary)),
    instances: fc.array(instanceArbitrary, { maxLength: 14 }),
    demand: demandArbitrary,
    maxWorkers: fc.option(fc.constantFrom(0, 1, 3, 6, 12), { nil: undefined }),
    idleTimeout: fc.option(fc.constant(60_000), { nil: undefined, freq: 4 }),
    idle: fc.constantFrom('timeout' as const, 'timeout' as const, 'economic' as const),
    speed: fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY),
    complete: fc.record({ engine: fc.boolean(), provider: fc.boolean() }),
    partial: fc.constantFrom(true, false, false),
    refused: fc.array(
      fc.record({
        type: fc.constantFrom(...typeNames),
        market: fc.constantFrom('spot' as const, 'on-demand' as const),
      }),
      {
        maxLength: 3,
      },
    ),
    replaceOutdated: fc.boolean(),
  })
  .map((drawn): World => {
    const types = new Map(drawn.types.map((type) => [type.name, type]));
    const unneededSince: Record<string, number> = {};
    const workers = drawn.instances.map((one, at): InstanceView => {
      const id = `i-${at}`;
      if (one.unneeded !== undefined) unneededSince[id] = now - one.unneeded;
      const resources = types.get(one.type)?.resources ?? { CPU: 4 };
      const total = { ...resources, [`node:10.0.0.${at}`]: 1 };
      const available = Object.fromEntries(Object.entries(total).map(([name, amount]) => [name, amount * one.free]));
      const hasNode = ['running', 'drain-requested', 'draining'].includes(one.status) && !(one.lost && at % 5 === 0);
      return {
        id,
        type: one.type,
        kind: 'worker',
        status: one.status,
        requestedAt: now - one.age,
        since: now - one.age,
        market: 'on-demand',
        ...(one.type === 'pod' ? { slice: `s-${at >> 1}` } : {}),
        ...(hasNode
          ? {
              node: {
                id: `r-${at}`,
                total,
                available,
                labels: { zone: at % 2 === 0 ? 'a' : 'b' },
                idleFor: one.free === 1 ? one.idleFor : 0,
              },
            }
          : {}),
      };
    });
    const head: InstanceView = {
      id: 'the-head', type: 'head', kind: 'head', status: 'running', requestedAt: 0, since: 0,
      node: { id: 'r-head', total: { CPU: 4 }, available: { CPU: 1 }, labels: {}, idleFor: 500_000 },
    }; // biome-ignore format: one line a thought
    return {
      now,
      view: {
        at: now,
        complete: drawn.partial ? drawn.complete : { engine: true, provider: true },
        instances: [head, ...workers],
        demand: drawn.demand,
        memory: {
          refusals: drawn.refused.map(({ type, market }, at) => ({
            type, market, reason: 'no-capacity' as const, times: 1, last: now - 1000, until: now + 1000 * (at + 1),
          })), // biome-ignore format: one line
          unneededSince,
        },
      },
      spec: {
        ...(drawn.maxWorkers === undefined ? {} : { maxWorkers: drawn.maxWorkers }),
        ...(drawn.idleTimeout === undefined ? {} : { idleTimeout: drawn.idleTimeout }),
        idle: drawn.idle,
        upscalingSpeed: drawn.speed,
        nodeTypes: drawn.types,
        headType: 'head',
        replaceOutdated: drawn.replaceOutdated,
      },
    };
  });

/** Instances of a type, or of all types, that the plan's launches would make. */
export function launched(plan: Plan, spec: ScalingSpec, type?: string): number {
  return plan.actions.reduce((sum, action) => {
    if (action.kind !== 'launch' || (type !== undefined && action.type !== type)) return sum;
    return sum + action.count * (spec.nodeTypes.find(({ name }) => name === action.type)?.hostsPerSlice ?? 1);
  }, 0);
}

export const endedIds = (plan: Plan): string[] =>
  plan.actions.flatMap((action) => (action.kind === 'launch' ? [] : [action.instance]));
