/** Jobs make the cluster grow, idleness makes it shrink, and a provider that misbehaves is seen through. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NodeAnswer, WhyAnswer } from '../../src/api/types.ts';
import { eventually, raw, TestCluster, workersYaml } from './test-cluster.ts';

const workers = (nodes: readonly NodeAnswer[]): NodeAnswer[] => nodes.filter((node) => node.kind === 'worker');
const running = (nodes: readonly NodeAnswer[]): NodeAnswer[] =>
  workers(nodes).filter((node) => node.node !== undefined);

async function why(cluster: TestCluster, kind: string, id: string): Promise<string> {
  const { chain, next, state } = await cluster.get<WhyAnswer>(`/why/${kind}/${id}`);
  return [state, ...chain.map(({ text }) => text), ...next].join('\n');
}

test('jobs make it grow to its limit, idleness makes it shrink to its floor, and what can never run is refused', async (t) => {
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 1, min: 1, max: 3, idleSeconds: 3 }) });
  await eventually('the floor is there', async () => running(await cluster.nodes()).length === 1);

  const refused = await cluster.ask('POST', '/api/manta/v1/jobs', { entrypoint: 'true', resources: { CPU: 2 } });
  assert.equal(refused.status, 422);
  assert.match(
    (refused.body as { error: { message: string } }).error.message,
    /nearest is 'worker', which offers CPU 1 of 2/,
  );
  const ray = await raw(cluster.url, {
    method: 'POST',
    path: '/api/jobs/',
    headers: { authorization: `Bearer ${cluster.token}` },
    body: JSON.stringify({ entrypoint: 'true', entrypoint_num_gpus: 1 }),
  });
  assert.equal(ray.status, 400);
  assert.match(String(ray.body), /can never run on this cluster/);

  const ids = ['one', 'two', 'three', 'four'];
  const go = join(cluster.home.path, 'go');
  const entrypoint = `until [ -e ${go} ]; do sleep 0.05; done`;
  for (const id of ids) await cluster.submit({ id, entrypoint, resources: { CPU: 1 } });
  await eventually('it has grown to its limit', async () => running(await cluster.nodes()).length === 3);
  const waiting = await eventually('one job waits', async () => {
    const { jobs } = await cluster.get<{ jobs: { id: string; state: string }[] }>('/jobs');
    const queued = jobs.filter(({ state }) => state === 'queued');
    return queued.length === 1 && jobs.filter(({ state }) => state === 'running').length === 3 && queued[0];
  });
  assert.match(await why(cluster, 'job', waiting.id), /max_workers/);
  const grown = running(await cluster.nodes()).filter((node) => node.launchedBecause?.includes('CPU'));
  assert.ok(grown.length >= 2, 'the nodes say for what they were launched');

  writeFileSync(go, '');
  for (const id of ids) assert.equal((await cluster.finish(id)).state, 'succeeded');
  const floor = await eventually('it has shrunk to its floor', async () => {
    const left = workers(await cluster.nodes());
    return left.length === 1 && left;
  });
  assert.equal(floor[0]?.status, 'running');
  const gone = grown.find((node) => node.instance !== floor[0]?.instance) as NodeAnswer;
  assert.match(await why(cluster, 'node', gone.instance), /idle/);
  const after = await cluster.submit({ entrypoint: 'true', resources: { CPU: 1 } });
  assert.equal((await cluster.finish(after.id)).state, 'succeeded');
});

const faulty = (
  t: TestContext,
  faults: string,
  options: Parameters<typeof workersYaml>[0] = {},
): Promise<TestCluster> =>
  TestCluster.start(t, {
    yaml: workersYaml({ cpus: 1, max: 2, idleSeconds: 30, ...options, extra: `manta:\n  faults:\n    - ${faults}\n` }),
  });

test('a provider that has no capacity is asked again later, and the job says so while it waits', async (t) => {
  const cluster = await faulty(t, '{refuse: no-capacity, type: worker, times: 1}');
  await cluster.submit({ id: 'waits', entrypoint: 'true', resources: { CPU: 1 } });
  await eventually('the refusal is told', async () =>
    (await cluster.events()).some((event) => event.code === 'MANTA_AUTOSCALER_REFUSED'),
  );
  assert.match(await why(cluster, 'job', 'waits'), /refused worker: no capacity; it is asked again/);
  const status = await cluster.get<{ text: string }>('/status');
  assert.match(status.text, /worker: .*\(latest_attempt/);
});

test('a node that is slow to boot is waited for and not asked for twice', async (t) => {
  const cluster = await faulty(t, '{boot_delay_s: 3, type: worker}');
  await cluster.submit({ id: 'patient', entrypoint: 'true', resources: { CPU: 1 } });
  await eventually('it is pending', async () => workers(await cluster.nodes()).length === 1);
  const job = await cluster.finish('patient');
  assert.equal(job.state, 'succeeded');
  const asked = (await cluster.events()).filter((event) => event.code === 'MANTA_AUTOSCALER_LAUNCHING');
  assert.equal(asked.length, 1);
});

test('a node that vanishes takes its job with it, and the job runs again on another', async (t) => {
  const cluster = await faulty(t, '{vanish_after_s: 5, type: worker, times: 1}');
  const entrypoint = '[ $MANTA_JOB_ATTEMPT -ge 2 ] || sleep 1000';
  await cluster.submit({ id: 'moved', entrypoint, resources: { CPU: 1 }, retries: { node_lost: 1 } });
  const job = await cluster.finish('moved');
  assert.deepEqual(
    job.attempts.map(({ cause }) => cause),
    ['node-lost', 'succeeded'],
  );
  assert.notEqual(job.attempts[0]?.node, job.attempts[1]?.node);
  // The next pass ties the new node to its instance; the job may be over before it.
  const told = await eventually('the chain names the instance', async () => {
    const text = await why(cluster, 'job', 'moved');
    return /started attempt 2 on i[0-9a-f]{12} \(worker\)/.test(text) && text;
  });
  assert.match(told, /attempt 1 ended because its node was lost/);
  const again = (await cluster.events()).find((event) => event.code === 'MANTA_JOB_RETRIED');
  assert.equal(again?.text, 'job moved is tried again: The node that ran the job was lost; attempt 2 follows');
});

test('a preempted node is drained at the notice, its job ends as preempted and runs again within that budget', async (t) => {
  const cluster = await faulty(t, '{preempt_after_s: 30, preempt_notice_s: 15, type: worker, times: 1}');
  const entrypoint = '[ $MANTA_JOB_ATTEMPT -ge 2 ] || sleep 1000';
  await cluster.submit({ id: 'taken', entrypoint, resources: { CPU: 1 }, retries: { preempted: 1 } });
  const job = await cluster.finish('taken');
  assert.deepEqual(
    job.attempts.map(({ cause }) => cause),
    ['preempted', 'succeeded'],
  );
});

test('a node that hangs and never registers is given up and replaced', async (t) => {
  const cluster = await faulty(t, '{hang: true, type: worker, times: 1}\n  setup_timeout: 31s');
  await cluster.submit({ id: 'held-up', entrypoint: 'true', resources: { CPU: 1 } });
  const hung = await eventually('it is asked for', async () => workers(await cluster.nodes())[0]);
  const job = await cluster.finish('held-up');
  assert.deepEqual([job.state, job.attempts.length], ['succeeded', 1]);
  assert.match(
    await why(cluster, 'node', hung.instance),
    /not done within 31s; provider\.manta\.setup_timeout allows more/,
  );
  await eventually('nothing of it is left', () => cluster.agents().size === 2);
});
