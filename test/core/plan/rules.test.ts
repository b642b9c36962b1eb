import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPending } from '../../../src/core/lifecycle.ts';
import type { Plan } from '../../../src/core/plan/plan.ts';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import { fc } from '../../property.ts';
import { endedIds, launched, now, type World, worldArbitrary } from './worlds.ts';

const runs = { numRuns: 600 };

function always(claim: (world: World, made: Plan) => void): void {
  fc.assert(
    fc.property(worldArbitrary, (world) => claim(world, plan(world.view, world.spec, world.now))),
    runs,
  );
}

const isGone = (status: string): boolean => status === 'terminated' || status === 'launch-failed';

describe('the planner, whatever the cluster', () => {
  it('never launches above the limit of a type or of the cluster', () => {
    always(({ view, spec }, made) => {
      const workers = view.instances.filter(({ kind, status }) => kind === 'worker' && !isGone(status));
      for (const type of spec.nodeTypes) {
        const adds = launched(made, spec, type.name);
        if (adds > 0) assert.ok(workers.filter((one) => one.type === type.name).length + adds <= type.maxWorkers);
      }
      const adds = launched(made, spec);
      if (adds > 0 && spec.maxWorkers !== undefined) assert.ok(workers.length + adds <= spec.maxWorkers);
    });
  });

  it('never touches the head', () => {
    always((_, made) => assert.ok(!endedIds(made).includes('the-head')));
  });

  it('ends no instance twice, and none that is already on its way out', () => {
    always(({ view }, made) => {
      const ids = endedIds(made);
      assert.equal(new Set(ids).size, ids.length);
      for (const id of ids) {
        const status = view.instances.find((one) => one.id === id)?.status ?? 'unknown';
        assert.ok(
          !['draining', 'drain-requested', 'terminating', 'terminated', 'launch-failed', 'unknown'].includes(status),
        );
      }
    });
  });

  it('ends nothing on a partial view', () => {
    always(({ view }, made) => {
      if (!view.complete.engine || !view.complete.provider) assert.deepEqual(endedIds(made), []);
    });
  });

  it('keeps the floor of each type, or says what it waits for', () => {
    always(({ view, spec }, made) => {
      const ended = new Set(endedIds(made));
      for (const type of spec.nodeTypes) {
        const kept = view.instances.filter(
          (one) =>
            one.type === type.name &&
            one.kind === 'worker' &&
            !ended.has(one.id) &&
            (isPending(one.status) || (one.status === 'running' && one.node !== undefined)),
        ).length;
        const short = type.minWorkers - kept - launched(made, spec, type.name);
        const waits = made.waiting.some(({ demand }) => demand.kind === 'min-workers' && demand.type === type.name);
        assert.ok(short <= 0 || waits, `${type.name} is ${short} short`);
        for (const action of made.actions)
          if (
            action.kind !== 'launch' &&
            (action.because.kind === 'idle' || action.because.kind === 'unneeded-pending')
          )
            if (view.instances.find(({ id }) => id === action.instance)?.type === type.name)
              assert.ok(kept >= type.minWorkers);
      }
    });
  });

  it('ends idle nodes only after their timeout, and unneeded pending ones only after the grace', () => {
    always(({ view, spec }, made) => {
      for (const action of made.actions) {
        if (action.kind === 'launch') continue;
        const instance = view.instances.find(({ id }) => id === action.instance);
        if (action.because.kind === 'idle') {
          const timeout = spec.nodeTypes.find(({ name }) => name === instance?.type)?.idleTimeout ?? spec.idleTimeout;
          assert.ok(timeout !== undefined && action.because.timeout <= timeout);
          assert.ok(action.because.timeout === timeout || (spec.idle === 'economic' && action.because.economic));
          assert.ok((instance?.node?.idleFor ?? 0) > action.because.timeout);
          assert.equal(action.kind, 'drain');
        }
        if (action.because.kind === 'unneeded-pending') {
          assert.ok(instance !== undefined && isPending(instance.status));
          assert.ok(now - (view.memory.unneededSince[instance.id] ?? now) >= 30_000);
        }
      }
    });
  });

  it('places a gang whole or not at all', () => {
    always(({ view }, made) => {
      const unplaced = new Set([
        ...made.waiting.flatMap(({ demand }) => (demand.kind === 'gang' ? [demand.gang] : [])),
        ...made.infeasible.flatMap((one) => (one.kind === 'gang' ? [one.gang.id] : [])),
      ]);
      for (const action of made.actions)
        if (action.kind === 'launch')
          for (const { serves } of action.because) if (serves.kind === 'gang') assert.ok(!unplaced.has(serves.gang));
      for (const id of unplaced) assert.ok(view.demand.gangs.some((gang) => gang.id === id));
    });
  });

  it('launches and ends the hosts of a slice together', () => {
    always(({ view }, made) => {
      const ended = new Set(endedIds(made));
      const live = view.instances.filter(
        ({ type, status, node }) => type === 'pod' && (isPending(status) || (status === 'running' && node)),
      );
      for (const one of live) {
        const mates = live.filter(({ slice }) => slice === one.slice);
        const gone = mates.filter(({ id }) => ended.has(id)).length;
        assert.ok(gone === 0 || gone === mates.length, `${one.slice}: ${gone} of ${mates.length}`);
      }
    });
  });

  it('gives the same plan for the same input', () => {
    always(({ view, spec }, made) => assert.deepEqual(plan(view, spec, now), made));
  });

  it('changes nothing when lists of the input change their order', () => {
    fc.assert(
      fc.property(worldArbitrary, fc.infiniteStream(fc.nat()), (world, order) => {
        const shuffle = <T>(list: readonly T[]): T[] =>
          list
            .map((value) => ({ value, key: order.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ value }) => value);
        const { demand, memory } = world.view;
        const shuffled = {
          ...world.view,
          instances: shuffle(world.view.instances),
          demand: { tasks: shuffle(demand.tasks), gangs: shuffle(demand.gangs), standing: shuffle(demand.standing) },
          memory: { ...memory, refusals: shuffle(memory.refusals) },
        };
        // Cloned: generated values that are equal may differ in their prototypes.
        const [changed, same] = [plan(shuffled, world.spec, now), plan(world.view, world.spec, now)];
        assert.deepEqual(structuredClone(changed), structuredClone(same));
      }),
      runs,
    );
  });

  it('launches for tasks only what nodes that run or are coming do not hold', () => {
    always(({ view, spec }) => {
      const tasks = [{ request: { resources: { CPU: 1 }, selectors: [], placement: [] }, count: 1 }];
      const free = view.instances
        .filter(
          ({ status, node, type }) =>
            (status === 'running' && node !== undefined) || (isPending(status) && type !== 'gone'),
        )
        .reduce(
          (sum, { node, type }) =>
            sum +
            Math.floor(
              node?.available['CPU'] ?? spec.nodeTypes.find(({ name }) => name === type)?.resources['CPU'] ?? 0,
            ),
          0,
        );
      const relaxed = {
        ...spec,
        replaceOutdated: false,
        nodeTypes: spec.nodeTypes.map((type) => ({ ...type, minWorkers: 0, maxWorkers: 100, hostsPerSlice: 1 })),
      };
      const { maxWorkers: _, ...unlimited } = relaxed;
      const made = plan(
        { ...view, demand: { tasks: tasks.map((one) => ({ ...one, count: free })), gangs: [], standing: [] } },
        unlimited,
        now,
      );
      assert.equal(launched(made, unlimited), 0);
    });
  });

  it('answers for every demand: placed, waiting with what it waits for, or infeasible with the reason of each type', () => {
    always(({ spec }, made) => {
      for (const one of made.infeasible) assert.ok(one.types.length > 0 || spec.nodeTypes.length === 0);
      for (const { demand, until } of made.waiting) {
        if (demand.kind === 'tasks') assert.ok(demand.count > 0);
        if (until !== undefined) assert.ok(until > now && made.lookAgainAt !== undefined && made.lookAgainAt <= until);
      }
    });
  });

  it('wants nothing more once its launches are on their way', () => {
    always(({ view, spec }, made) => {
      const coming = made.actions.flatMap((action, at) => {
        if (action.kind !== 'launch') return [];
        const type = spec.nodeTypes.find(({ name }) => name === action.type);
        return Array.from({ length: action.count * (type?.hostsPerSlice ?? 1) }, (_, k) => ({
          id: `new-${at}-${k}`,
          type: action.type,
          kind: 'worker' as const,
          status: 'allocated' as const,
          requestedAt: now - 60_000,
          since: now,
          ...(type?.hostsPerSlice === 2 ? { slice: `new-${at}-${k >> 1}` } : {}),
        }));
      });
      if (made.actions.some(({ kind }) => kind !== 'launch')) return;
      if (spec.upscalingSpeed !== Number.POSITIVE_INFINITY) return;
      const next = plan({ ...view, instances: [...view.instances, ...coming] }, spec, now);
      assert.equal(launched(next, spec), 0, JSON.stringify(next.actions));
    });
  });
});
