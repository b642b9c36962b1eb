// needs: cluster

/** Jobs make the cluster grow, idleness makes it shrink, and a provider that misbehaves is seen through. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
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
    /nearest is 'worker', which provides CPU 1 of 2/,
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

/** One cluster for all faults: each has a type of its own, which jobs ask for by a resource of that name. */
const faults = [
  ['refused', '{refuse: no-capacity, type: refused, times: 1}'],
  ['slow', '{boot_delay_s: 3, type: slow}'],
  ['vanishing', '{vanish_after_s: 5, type: vanishing, times: 1}'],
  ['preempted', '{preempt_after_s: 20, preempt_notice_s: 10, type: preempted, times: 1}'],
  ['hanging', '{hang: true, type: hanging, times: 1}'],
] as const;
type FaultyType = (typeof faults)[number][0];

const faultyYaml = `cluster_name: default
provider:
  type: process
  manta:
    setup_timeout: 20s
    faults:
${faults.map(([, fault]) => `      - ${fault}\n`).join('')}
max_workers: 10
idle_timeout_minutes: 1
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
${faults.map(([type]) => `  ${type}: {resources: {CPU: 1, ${type}: 1}, max_workers: 2, node_config: {}}\n`).join('')}`;

describe('a provider that misbehaves', { concurrency: true }, () => {
  let cluster: TestCluster;
  const cleanUps: (() => Promise<void>)[] = [];
  before(async () => {
    cluster = await TestCluster.start({ after: (cleanUp) => cleanUps.push(cleanUp) }, { yaml: faultyYaml });
  });
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });
  const submit = (id: string, type: FaultyType, entrypoint: string, more: Record<string, unknown> = {}) =>
    cluster.submit({ id, entrypoint, resources: { CPU: 1, [type]: 1 }, ...more });
  const ofType = async (type: FaultyType): Promise<NodeAnswer[]> =>
    workers(await cluster.nodes()).filter((node) => node.type === type);
  const retrying = '[ $MANTA_JOB_ATTEMPT -ge 2 ] || sleep 1000';

  test('by having no capacity is asked again later, and the job says so while it waits', async () => {
    await submit('waits', 'refused', 'true');
    await eventually('the refusal is told', async () =>
      (await cluster.events()).some((event) => event.code === 'MANTA_AUTOSCALER_REFUSED'),
    );
    assert.match(await why(cluster, 'job', 'waits'), /refused refused: no capacity; retrying at/);
    const status = await cluster.get<{ text: string }>('/status');
    assert.match(status.text, /refused: .*\(latest_attempt/);
  });

  test('by slow boots is waited for and not asked twice', async () => {
    await submit('patient', 'slow', 'true');
    await eventually('it is pending', async () => (await ofType('slow')).length === 1);
    const job = await cluster.finish('patient');
    assert.equal(job.state, 'succeeded');
    const asked = (await cluster.events()).filter(
      (event) => event.code === 'MANTA_AUTOSCALER_LAUNCHING' && /\bslow\b/.test(event.text),
    );
    assert.equal(asked.length, 1);
  });

  test('by losing a node loses its job with it, and the job runs again on another', async () => {
    await submit('moved', 'vanishing', retrying, { retries: { node_lost: 1 } });
    const job = await cluster.finish('moved');
    assert.deepEqual(
      job.attempts.map(({ cause }) => cause),
      ['node-lost', 'succeeded'],
    );
    assert.notEqual(job.attempts[0]?.node, job.attempts[1]?.node);
    // The next pass ties the new node to its instance; the job may be over before it.
    const told = await eventually('the chain names the instance', async () => {
      const text = await why(cluster, 'job', 'moved');
      return /started attempt 2 on i[0-9a-f]{12} \(vanishing\)/.test(text) && text;
    });
    assert.match(told, /attempt 1 ended because its node was lost/);
    const again = (await cluster.events()).find(
      (event) => event.code === 'MANTA_JOB_RETRIED' && event.text.includes('moved'),
    );
    assert.equal(again?.text, 'retrying job moved: The node that ran the job was lost; attempt 2 follows');
  });

  test('by preempting a node has it drained at the notice; its job ends as preempted and runs again', async () => {
    await submit('taken', 'preempted', retrying, { retries: { preempted: 1 } });
    const job = await cluster.finish('taken');
    assert.deepEqual(
      job.attempts.map(({ cause }) => cause),
      ['preempted', 'succeeded'],
    );
  });

  test('by a node that hangs and never registers has it given up and replaced', async () => {
    await submit('held-up', 'hanging', 'true');
    const hung = await eventually('its process runs', async () =>
      (await ofType('hanging')).find(({ machine = '' }) => cluster.agents().has(machine)),
    );
    const job = await cluster.finish('held-up');
    assert.deepEqual([job.state, job.attempts.length], ['succeeded', 1]);
    assert.match(
      await why(cluster, 'node', hung.instance),
      /did not finish within 20s; raise provider\.manta\.setup_timeout to allow more time/,
    );
    await eventually('nothing of it is left', async () => {
      const left = await ofType('hanging');
      return left.length === 1 && left[0]?.instance !== hung.instance && !cluster.agents().has(hung.machine!);
    });
  });
});
