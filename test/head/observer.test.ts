import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceView } from '../../src/core/instance.ts';
import { stoppedLines } from '../../src/core/status/stopped.ts';
import type { View } from '../../src/core/view.ts';
import {
  clusterAnswer,
  nodeAnswers,
  type Sight,
  samplePoint,
  statusOf,
  unknownOf,
} from '../../src/head/report/observer.ts';

const now = 1_800_000_000_000;
const identity = { name: 'c', engine: 'ray', mantaVersion: '1', startedAt: 0, user: 'u', spent: 0 } as const;

const worker = (id: string, change: Partial<InstanceView> = {}): InstanceView => ({
  id,
  type: 'cpu',
  kind: 'worker',
  status: 'running',
  requestedAt: now - 600_000,
  since: now - 500_000,
  ...change,
});

function sightOf(change: Partial<View>): Sight {
  const view: View = {
    at: now,
    complete: { engine: true, provider: true },
    instances: [],
    demand: { tasks: [], gangs: [], standing: [] },
    memory: { refusals: [], unneededSince: {} },
    ...change,
  };
  return {
    now,
    spec: { headType: 'head', nodeTypes: [] } as unknown as Sight['spec'],
    view,
    plan: undefined,
    engine: undefined,
    jobs: [],
    counts: { held: 0, queued: 0, starting: 0, running: 0, stopping: 0, succeeded: 0, failed: 0, stopped: 0 },
  };
}

test('an engine that does not answer is no empty cluster: its machines are counted, and what is unknown is said', () => {
  const sight = sightOf({
    complete: { engine: false, provider: true },
    silent: { engine: { since: now - 180_000, reason: 'no connection' } },
    instances: [worker('a'), worker('b'), worker('c', { status: 'allocated' })],
  });
  const answer = clusterAnswer(sight, identity);
  assert.deepEqual([answer.nodes.running, answer.nodes.pending, answer.synced], [2, 1, false]);
  const lines = [
    'Ray has not responded for 3 min: no connection',
    '2 machines are running, but what runs on them is unknown',
  ];
  assert.deepEqual(answer.unknown, lines);
  const status = statusOf(sight, { failedLaunches: [], failedNodes: [] }, undefined);
  assert.deepEqual([status.unknown, status.silent?.engine?.reason], [2, 'no connection']);
  assert.deepEqual(samplePoint(sight).nodes, { cpu: 2, 'cpu+': 1 });
});

test('a provider that does not answer is told too; while all answer nothing is unknown', () => {
  const node = { id: 'n', total: { CPU: 1 }, available: { CPU: 1 }, labels: {}, idleFor: 0 };
  const silent = { provider: { since: now - 30_000, reason: 'token expired' } };
  const sight = sightOf({ complete: { engine: true, provider: false }, silent, instances: [worker('a', { node })] });
  assert.deepEqual(unknownOf(sight, 'embedded'), ['The provider has not responded for 30 s: token expired']);
  assert.equal(clusterAnswer(sightOf({ instances: [worker('a', { node })] }), identity).unknown, undefined);
});

test('a node that was added by hand is in status, usage and list, and costs nothing', () => {
  const node = { id: 'abc', total: { hand: 2 }, available: { hand: 1 }, labels: {}, idleFor: 0 };
  const added = worker('abc', { type: 'node_abc', byHand: true, node });
  const sight = sightOf({ instances: [added] });
  const { active } = statusOf(sight, { failedLaunches: [], failedNodes: [] }, undefined);
  assert.deepEqual(
    active.map(({ type }) => type),
    ['node_abc'],
  );
  const { nodes, usage } = clusterAnswer(sight, identity);
  assert.deepEqual([nodes.running, usage['hand']], [1, { used: 1, total: 2 }]);
  const [answer] = nodeAnswers(sight, () => undefined);
  assert.deepEqual([answer?.byHand, answer?.pricePerHour], [true, undefined]);
});

test('prices that are not known are counted, and never taken from another offer', () => {
  const offers = [
    { market: 'on-demand', zone: 'a', pricePerHour: 2, stoppedPerHour: 0.1 },
    { market: 'spot', zone: 'a' },
  ];
  const spec = { headType: 'head', nodeTypes: [{ name: 'cpu', resources: {}, offers }] } as unknown as Sight['spec'];
  const sight = {
    ...sightOf({
      instances: [
        worker('a', { zone: 'a', market: 'on-demand' }),
        worker('b', { zone: 'a', market: 'spot' }),
        worker('c', { zone: 'b', market: 'on-demand' }),
        worker('d', { zone: 'a', market: 'on-demand', status: 'machine-stopped' }),
        worker('e', { status: 'requested', zone: 'b', market: 'on-demand' }),
      ],
    }),
    spec,
  };
  const { cost, nodes } = clusterAnswer(sight, identity);
  assert.deepEqual(cost, { perHour: 2.1 + 0, spent: 0, unknown: 2 });
  assert.equal(nodes.stopped, 1);
  assert.deepEqual(
    nodeAnswers(sight, () => undefined).map(({ pricePerHour }) => pricePerHour),
    [2, undefined, undefined, 0.1, undefined],
  );
});

test('stopped machines are no nodes, and status tells what they cost where that is known', () => {
  const offers = [{ market: 'on-demand', stoppedPerHour: 0.02 }, { market: 'reserved' }];
  const spec = { headType: 'head', nodeTypes: [{ name: 'cpu', resources: {}, offers }] } as unknown as Sight['spec'];
  const off = (id: string, market: 'on-demand' | 'reserved') => worker(id, { market, status: 'machine-stopped' });
  const stoppedOf = (instances: readonly InstanceView[]) =>
    statusOf({ ...sightOf({ instances }), spec }, { failedLaunches: [], failedNodes: [] }, undefined);
  const known = stoppedOf([off('a', 'on-demand'), off('b', 'on-demand')]);
  assert.deepEqual([known.active, known.idle, known.pending, known.launching], [[], [], [], []]);
  assert.match(stoppedLines(known.stopped).join(), /^2 stopped machines of cpu, 0.040 an hour/);
  const unknown = stoppedOf([off('a', 'on-demand'), off('b', 'reserved')]);
  assert.match(stoppedLines(unknown.stopped).join(), /^2 stopped machines of cpu, price unknown/);
  assert.equal(stoppedOf([worker('c')]).stopped, undefined);
});
