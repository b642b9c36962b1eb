import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Capacity, infeasibility, infeasibleText } from '../../../src/core/jobs/admit.ts';
import { matchesLabels, parseSelector } from '../../../src/core/jobs/labels.ts';
import { demandOf } from '../../../src/core/jobs/queue-demand.ts';
import { firingOf, holdOf } from '../../../src/core/jobs/schedule.ts';
import { job } from './jobs.ts';

const types: Capacity[] = [
  { name: 'small', resources: { CPU: 4, memory: 8e9 }, labels: { zone: 'a' }, atMost: 3 },
  { name: 'gpu', resources: { CPU: 16, GPU: 1, memory: 64e9 }, labels: { zone: 'b' }, atMost: 1 },
];

test('a job that no node type can hold is refused with the nearest type and what it lacks', () => {
  assert.equal(infeasibility(job({ id: 'a', resources: { CPU: 16 } }), types), undefined);
  const refusal = infeasibility(job({ id: 'a', resources: { CPU: 64 } }), types);
  assert.ok(refusal);
  assert.deepEqual(refusal.nearest, { type: 'gpu', lacks: [{ name: 'CPU', asked: 64, has: 16 }] });
  assert.equal(
    infeasibleText(refusal),
    "no node type can fit {CPU: 64}; the nearest is 'gpu', which provides CPU 16 of 64",
  );
  assert.equal(infeasibility(job({ id: 'a', resources: { CPU: 1 }, labels: { zone: 'c' } }), types)?.reason, 'labels');
  assert.equal(
    infeasibility(job({ id: 'a', resources: { GPU: 1 }, labels: { zone: '!b' } }), types)?.reason,
    'one-node',
  );
});

test('a resource that no node type has is named, and no type is called near', () => {
  const text = (resources: Record<string, number>): string =>
    infeasibleText(infeasibility(job({ id: 'a', resources }), types) ?? assert.fail());
  assert.equal(text({ nosuch: 1 }), "no node type provides 'nosuch'");
  assert.equal(text({ CPU: 64, nosuch: 1, other: 2 }), "no node type provides 'nosuch' or 'other'");
});

test('a cluster whose capacity is not known refuses nothing', () => {
  assert.equal(infeasibility(job({ id: 'a', resources: { CPU: 1e6 } }), []), undefined);
});

test('gangs are held to what the cluster could ever have at once', () => {
  const gang = (strategy: 'PACK' | 'STRICT_PACK' | 'STRICT_SPREAD', count: number, cpus: number) =>
    infeasibility(
      job({
        id: 'a',
        resources: {},
        gang: { strategy, bundles: Array.from({ length: count }, () => ({ CPU: cpus })) },
      }),
      types,
    );
  assert.equal(gang('PACK', 7, 4), undefined);
  assert.equal(gang('PACK', 8, 4)?.reason, 'whole-cluster');
  assert.equal(gang('STRICT_PACK', 4, 4), undefined);
  assert.equal(gang('STRICT_PACK', 5, 4)?.reason, 'one-node');
  assert.equal(gang('STRICT_SPREAD', 4, 4), undefined);
  assert.equal(gang('STRICT_SPREAD', 5, 1)?.reason, 'node-count');
});

test("label selectors have Ray's four forms", () => {
  const match = (text: string, labels: Record<string, string>) =>
    matchesLabels(parseSelector({ k: text }) ?? assert.fail(text), labels);
  assert.deepEqual(
    [match('a', { k: 'a' }), match('a', {}), match('!a', {}), match('!a', { k: 'a' })],
    [true, false, true, false],
  );
  assert.deepEqual(
    [match('in(a, b)', { k: 'b' }), match('!in(a,b)', { k: 'b' }), match('!in(a,b)', { k: 'c' })],
    [true, false, true],
  );
  assert.equal(parseSelector({ k: 'in(a' }), undefined);
});

test('each firing is a copy with a number of its own', () => {
  const copy = firingOf(job({ id: 'nightly', cron: '0 0 * * *', firings: 4 }), 7);
  assert.equal(copy.id, 'nightly-5');
  assert.equal(copy.submittedAt, 7);
  assert.equal('cron' in copy, false);
});

test('a held job waits for jobs, then for its time, and fails with its dependency', () => {
  const it = job({ id: 'c', dependsOn: ['a', 'b'], startAfter: 100 });
  assert.deepEqual(
    holdOf(it, 0, (id) => (id === 'a' ? 'succeeded' : 'running')),
    { kind: 'jobs', ids: ['b'] },
  );
  assert.deepEqual(
    holdOf(it, 0, () => 'succeeded'),
    { kind: 'until', at: 100 },
  );
  assert.deepEqual(
    holdOf(it, 100, () => 'succeeded'),
    { kind: 'none' },
  );
  assert.deepEqual(
    holdOf(it, 0, (id) => (id === 'a' ? 'stopped' : 'running')),
    { kind: 'never', job: 'a', state: 'stopped' },
  );
  assert.deepEqual(
    holdOf(it, 0, () => undefined),
    { kind: 'never', job: 'a', state: 'deleted' },
  );
});

test('a clock that goes back an hour does not keep a retry waiting for an hour', () => {
  assert.deepEqual(
    holdOf(job({ id: 'a', notBefore: 3_600_000 }), 0, () => undefined),
    { kind: 'none' },
  );
});

test('waiting jobs are demand: equal ones together, gangs by themselves, head jobs not at all', () => {
  const demand = demandOf([
    job({ id: 'a', resources: { CPU: 2 } }),
    job({ id: 'b', resources: { CPU: 2 } }),
    job({ id: 'c', resources: {} }),
    job({ id: 'd', resources: {}, gang: { strategy: 'STRICT_PACK', bundles: [{ CPU: 1 }, { CPU: 2 }] } }),
    job({ id: 'e', resources: { CPU: 2 }, labels: { zone: 'a' } }),
  ]);
  assert.deepEqual(
    demand.tasks.map((task) => [task.count, task.request.resources, task.request.selectors.length]),
    [
      [2, { CPU: 2 }, 0],
      [1, { CPU: 2 }, 1],
    ],
  );
  assert.deepEqual(
    demand.gangs.map((gang) => [gang.id, gang.requests.map((request) => request.resources)]),
    [['d', [{ CPU: 3 }]]],
  );
});

test('of a user who waits for very much only the first part is demand; that of others is not touched by it', () => {
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`label-${i}`, `!in(${'ab,'.repeat(30)}c)`]));
  const greedy = Array.from({ length: 2_000 }, (_, i) =>
    job({ id: `g${i}`, user: 'greedy', resources: { CPU: 1 + i }, labels }),
  );
  const gangs = Array.from({ length: 200 }, (_, i) =>
    job({
      id: `b${i}`,
      user: 'bob',
      gang: { strategy: 'PACK', bundles: Array.from({ length: 1_000 }, () => ({ CPU: 1 })) },
    }),
  );
  const ada = job({ id: 'ada', user: 'ada', resources: { CPU: 0.5 } });
  const { tasks, gangs: told } = demandOf([...greedy, greedy[0] ?? ada, ...gangs, ada]);
  assert.ok(tasks.length > 50 && tasks.length < 200, String(tasks.length));
  assert.ok(told.length > 50 && told.length < 100, String(told.length));
  assert.deepEqual([tasks[0]?.request.resources, tasks[0]?.count], [{ CPU: 1 }, 2]);
  assert.deepEqual(tasks.at(-1)?.request.resources, { CPU: 0.5 });

  const small = Array.from({ length: 20_000 }, (_, i) => job({ id: `s${i}`, user: 'ada', resources: { CPU: 1 + i } }));
  assert.equal(demandOf(small).tasks.length, small.length);
});
