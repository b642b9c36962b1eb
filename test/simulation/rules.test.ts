import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Checks, checks } from '../../src/autoscaler/check.ts';
import type { Planner } from '../../src/autoscaler/loop.ts';
import type { Action, Plan } from '../../src/core/plan/plan.ts';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import type { View } from '../../src/core/view.ts';
import type { FaultProfile } from '../../src/simulation/faults.ts';
import type { Rule } from '../../src/simulation/judge.ts';
import { runSeed, type SeedOptions } from './run-seed.ts';

/** Breaks the rule in some of these seeds: a rule that cannot be broken proves nothing. */
async function breaks(rule: Rule, broken: Partial<SeedOptions>, profile: FaultProfile = 'none'): Promise<void> {
  for (let seed = 1; seed <= 40; seed++) {
    const { violations } = await runSeed({ seed, profile, planner: plan, ...broken });
    if (violations.some((violation) => violation.rule === rule)) return;
  }
  assert.fail(`no seed broke the rule '${rule}'`);
}

const careless: Checks = { launch: (action) => action.count, drain: () => undefined, terminate: () => undefined };

const changing =
  (change: (actions: readonly Action[], view: View) => readonly Action[]): Planner =>
  (view, spec, now): Plan => {
    const made = plan(view, spec, now);
    return { ...made, actions: change(made.actions, view) };
  };

test('a token that is not in the journal breaks token-first', async () => {
  await breaks('token-first', {
    tamper: ({ provider, engine }) => ({
      engine,
      provider: {
        list: (signal) => provider.list(signal),
        launch: (request, signal) => provider.launch({ ...request, token: `${request.token}-again` }, signal),
        terminate: (ids, signal) => provider.terminate(ids, signal),
        tag: (id, tags, signal) => provider.tag(id, tags, signal),
      },
    }),
  });
});

test('a token that is used for two requests breaks double-launch', async () => {
  const first = new WeakMap<object, string>();
  await breaks('double-launch', {
    tamper: ({ provider, engine }) => ({
      engine,
      provider: {
        list: (signal) => provider.list(signal),
        launch: (request, signal) => {
          const token = first.get(engine) ?? request.token;
          first.set(engine, token);
          return provider.launch({ ...request, token }, signal);
        },
        terminate: (ids, signal) => provider.terminate(ids, signal),
        tag: (id, tags, signal) => provider.tag(id, tags, signal),
      },
    }),
  });
});

test('a planner that asks for too many breaks the limits', async () => {
  await breaks('limits', {
    checks: careless,
    planner: changing((actions) =>
      actions.map((action) => (action.kind === 'launch' ? { ...action, count: action.count * 4 } : action)),
    ),
  });
});

test('the last look before a launch holds the limits against a planner that asks for too many', async () => {
  const greedy = changing((actions) =>
    actions.map((action) => (action.kind === 'launch' ? { ...action, count: action.count * 4 } : action)),
  );
  for (let seed = 1; seed <= 10; seed++) {
    const { violations } = await runSeed({ seed, profile: 'none', planner: greedy, checks });
    assert.ok(!violations.some((violation) => violation.rule === 'limits'));
  }
});

test('ending on an old list breaks partial-view', async () => {
  await breaks(
    'partial-view',
    {
      tamper: ({ provider, engine }) => {
        let last: Awaited<ReturnType<typeof provider.list>> = [];
        return {
          engine,
          provider: {
            list: async (signal) => {
              last = await provider.list(signal).catch(() => last);
              return last;
            },
            launch: (request, signal) => provider.launch(request, signal),
            terminate: (ids, signal) => provider.terminate(ids, signal),
            tag: (id, tags, signal) => provider.tag(id, tags, signal),
          },
        };
      },
    },
    'flaky-api',
  );
});

test('a planner that ends nodes at work breaks busy', async () => {
  await breaks('busy', {
    checks: careless,
    planner: changing((actions, view) => [
      ...actions,
      ...view.instances
        .filter((instance) => instance.kind === 'worker' && instance.node !== undefined && instance.node.idleFor === 0)
        .map(
          (instance): Action => ({
            kind: 'terminate',
            instance: instance.id,
            because: { kind: 'failed', status: 'running' },
          }),
        ),
    ]),
  });
});

test('the last look before an end keeps nodes at work from a planner that would end them', async () => {
  const ruthless = changing((actions, view) => [
    ...actions,
    ...view.instances
      .filter((instance) => instance.node !== undefined)
      .map(
        (instance): Action => ({
          kind: 'terminate',
          instance: instance.id,
          because: { kind: 'failed', status: 'running' },
        }),
      ),
  ]);
  for (let seed = 1; seed <= 10; seed++) {
    const { violations } = await runSeed({ seed, profile: 'none', planner: ruthless });
    assert.ok(!violations.some(({ rule }) => rule === 'busy' || rule === 'head'));
  }
});

test('a planner that ends the head breaks head', async () => {
  await breaks('head', {
    checks: careless,
    planner: changing((actions, view) => [
      ...actions,
      ...view.instances
        .filter((instance) => instance.kind === 'head')
        .map(
          (instance): Action => ({
            kind: 'terminate',
            instance: instance.id,
            because: { kind: 'failed', status: 'running' },
          }),
        ),
    ]),
  });
});

test('a planner that launches for half a gang breaks gang', async () => {
  await breaks('gang', {
    planner: changing((actions) =>
      actions.flatMap((action) => {
        const serves = action.kind === 'launch' && action.because.some((reason) => reason.serves.kind === 'gang');
        if (!serves || action.kind !== 'launch' || action.count < 2) return [action];
        return [{ ...action, count: 1 }];
      }),
    ),
  });
});

test('a planner that launches nothing breaks progress', async () => {
  await breaks('progress', { planner: changing((actions) => actions.filter((action) => action.kind !== 'launch')) });
});

test('a planner that ends nothing breaks convergence', async () => {
  await breaks('convergence', { planner: changing((actions) => actions.filter((action) => action.kind === 'launch')) });
});

test('a provider that only pretends to end machines breaks leak', async () => {
  await breaks('leak', {
    tamper: ({ provider, engine }) => ({
      engine,
      provider: {
        list: (signal) => provider.list(signal),
        launch: (request, signal) => provider.launch(request, signal),
        terminate: () => Promise.resolve(),
        tag: (id, tags, signal) => provider.tag(id, tags, signal),
      },
    }),
  });
});
