// needs: cluster

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mark, SamplePoint } from '../../src/api/types.ts';
import type { ScalingFact } from '../../src/autoscaler/journal.ts';
import type { InstanceStatus } from '../../src/core/instance.ts';
import type { InstanceRecord } from '../../src/core/lifecycle.ts';
import { History } from '../../src/head/journal/history.ts';
import { markOf, pastPoints } from '../../src/head/journal/history-facts.ts';
import { job } from '../core/jobs/jobs.ts';
import { eventually, kill, TestCluster, workersYaml } from './test-cluster.ts';

const began = 1_700_000_000_000;
const record = (id: string, status: InstanceStatus): InstanceRecord => ({
  id,
  type: 'worker',
  kind: 'worker',
  status,
  requestedAt: began,
  since: began,
  attempts: 1,
});
const move = (at: number, id: string, from: InstanceStatus, to: InstanceStatus): ScalingFact => ({
  kind: 'instance',
  at,
  record: record(id, to),
  moves: [{ from, to, at, because: { kind: 'node', state: 'alive' } }],
});
const facts: ScalingFact[] = [
  {
    kind: 'launch',
    at: began,
    token: 't',
    action: {
      kind: 'launch',
      type: 'worker',
      count: 1,
      market: 'on-demand',
      because: [{ serves: { kind: 'min-workers', count: 1 }, instead: [] }],
    },
    records: [record('a', 'requested')],
  },
  move(began + 5_000, 'a', 'requested', 'running'),
  {
    kind: 'end',
    at: began + 60_000,
    record: record('a', 'drain-requested'),
    how: 'drain',
    because: { kind: 'idle', idleFor: 61_000, timeout: 60_000 },
  },
  move(began + 61_000, 'a', 'draining', 'stopped'),
  {
    kind: 'end',
    at: began + 61_000,
    record: record('a', 'stopped'),
    how: 'terminate',
    because: { kind: 'follow-up', status: 'stopped' },
  },
  move(began + 90_000, 'b', 'running', 'stopped'),
];

test('the journal gives back how many nodes and jobs there were, and since when', () => {
  const jobs = [job({ id: 'j', submittedAt: began, startedAt: began + 6_000, endedAt: began + 7_000 })];
  const points = pastPoints(facts, [record('c', 'running')], jobs, began);
  assert.deepEqual(
    points.map(({ at, nodes, queued, running }) => [(at - began) / 1_000, nodes, queued, running]),
    [
      [0, { worker: 2, 'worker+': 1 }, 1, 0],
      [5, { worker: 3 }, 1, 0],
      [6, { worker: 3 }, 0, 1],
      [7, { worker: 3 }, 0, 0],
      [60.999, { worker: 3 }, 0, 0],
      [61, { worker: 2 }, 0, 0],
      [89.999, { worker: 2 }, 0, 0],
      [90, { worker: 1 }, 0, 0],
    ],
  );
});

test('each launch, end and loss is marked once, with its reason', () => {
  assert.deepEqual(
    facts.flatMap((fact) => markOf(fact) ?? []).map(({ kind, because }) => [kind, because]),
    [
      ['launch', 'min_workers requires 1 node'],
      ['end', 'idle for 61 s, the limit is 60 s'],
      ['failure', 'its node was lost'],
    ],
  );
});

test('what is restored comes before what is seen, and old points are left out', () => {
  const history = new History();
  const point = (at: number) => ({ at, nodes: {}, usage: {}, queued: 0, running: 0 });
  history.restore([point(began - 8 * 86_400_000), point(began)], [], began + 1_000);
  history.add(point(began + 20_000));
  assert.deepEqual(
    history.between(0, began * 2, 100).samples.map(({ at }) => at),
    [began, began + 20_000],
  );
});

test('nodes over time outlive mantad, with the reasons of launches; and why says which limit forbids the rest', async (t) => {
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 1, min: 1, max: 2, idleSeconds: 60 }) });
  const past = () => cluster.get<{ samples: SamplePoint[]; marks: Mark[] }>('/history?since=0');
  await eventually('the floor is there', async () =>
    (await past()).samples.some(({ nodes }) => (nodes['worker'] ?? 0) === 1),
  );
  const { marks } = await past();
  assert.ok(marks.some(({ kind, because }) => kind === 'launch' && because.includes('min_workers')));
  const before = cluster.mantad as number;
  const restartedAt = Date.now();
  kill(before);
  await eventually('it is back', async () => cluster.mantad !== undefined && cluster.mantad !== before);
  const after = await past();
  assert.deepEqual(after.marks.slice(0, marks.length), marks);
  assert.ok(after.samples.some(({ at, nodes }) => at < restartedAt && nodes['worker'] === 1));

  await cluster.ask('POST', '/api/manta/v1/request-resources', { bundles: [{ resources: { CPU: 1 }, count: 9 }] });
  const demand = await eventually('it is told', async () => {
    const answer = await cluster.get<{ chain: { text: string }[]; next: string[] }>('/why/demand/all');
    return answer.chain.length > 0 && answer;
  });
  assert.match(demand.chain[0]?.text ?? '', /needs more nodes than max_workers allows: .*max_workers is 2/);
  assert.deepEqual(demand.next, ['raise max_workers in the cluster file and run `manta up` again']);
});
