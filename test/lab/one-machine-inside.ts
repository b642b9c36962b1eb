/** Run by `one-machine.test.ts` as an ordinary user, on a machine of its own: one cluster of real Ray, through its life. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { NodeAnswer } from '../../src/api/types.ts';
import { processTable } from '../../src/base/process.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { type RayletPlace, readPlace } from '../../src/state/raylet-place.ts';
import { until } from '../contract/waiting.ts';
import { kill, listening, raw, TestCluster, TestHome } from '../head/test-cluster.ts';

const yaml = (name: string): string => `cluster_name: ${name}
provider: {type: process, manta: {engine: ray}}
max_workers: 2
idle_timeout_minutes: 0.1
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0, object_store_memory: 80000000}, node_config: {}}
  worker:
    resources: {CPU: 1, object_store_memory: 80000000, here: 1}
    labels: {place: desk}
    node_config: {}
`;

/** Whatever runs on this machine beside the test itself. */
function running(): { pid: number; name: string }[] {
  const rows = processTable();
  const own = new Set<number>();
  for (let pid = process.pid; pid > 0 && !own.has(pid); )
    pid = (own.add(pid), rows.find((row) => row.pid === pid)?.parent ?? 0);
  return rows
    .filter(({ pid, parent }) => !own.has(pid) && parent !== process.pid)
    .map(({ pid }) => ({ pid, name: read(`/proc/${pid}/comm`).trim() }))
    .filter(({ name }) => name !== '');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const over: readonly Job['state'][] = ['succeeded', 'failed', 'stopped'];

const holdUntil = (file: string): string => `while [ ! -e ${file} ]; do sleep 0.2; done`;

describe('a real Ray on one machine', () => {
  let home: TestHome;
  let cluster: TestCluster;
  let place: RayletPlace;
  const cleanUps: (() => Promise<void>)[] = [];

  const workers = async (): Promise<NodeAnswer[]> => (await cluster.nodes()).filter(({ kind }) => kind === 'worker');
  const nodesOf = async (count: number): Promise<NodeAnswer[]> =>
    await until(`there are ${count} workers`, async () => {
      const there = await workers();
      return there.filter(({ status }) => status === 'running').length === count && there.length === count && there;
    });

  /** On a busy machine a raylet takes a minute to start. */
  const reaches = (id: string, state: Job['state']): Promise<true> =>
    until(`job ${id} is ${state}`, async () => {
      const job = await cluster.job(id);
      if (over.includes(job.state)) assert.equal(job.state, state, job.message);
      return job.state === state;
    });

  before(async () => {
    home = new TestHome({ after: (cleanUp) => cleanUps.push(cleanUp) }, {}, mkdtempSync('/tmp/u/h'));
    cluster = await TestCluster.up(home, yaml('one'));
    place = readPlace(cluster.folder) as RayletPlace;
  });
  after(async () => {
    // What is left of a cluster of which a test failed tells why.
    if (existsSync(cluster.folder.path)) process.stderr.write((await home.run('events', '-n', 'one')).out);
    for (const cleanUp of cleanUps) await cleanUp();
  });

  it('listens on loopback alone, and lets nobody in without a token', async () => {
    const all = listening(running().map(({ pid }) => pid)).filter((each) => each.startsWith('tcp'));
    assert.ok(all.length > 5, all.join(', '));
    for (const each of all)
      assert.match(each, /^tcp6? (?:0100007F|0{24}01000000|0000000000000000FFFF00000100007F):/, each);
    assert.equal((await raw(`http://127.0.0.1:${place.dashboardPort}`, { path: '/api/version' })).status, 401);
    assert.equal((await raw(cluster.url, { path: '/api/version' })).status, 401);
    assert.equal((await cluster.request('GET', '/api/v0/nodes')).status, 200);
  });

  it('makes raylets for jobs that need them, and ends them when nothing does', async () => {
    const open = join(home.path, 'open');
    for (const id of ['a', 'b'])
      await cluster.submit({
        id,
        entrypoint: holdUntil(open),
        resources: { CPU: 1, here: 1 },
        labels: { place: 'desk' },
      });
    for (const id of ['a', 'b']) await reaches(id, 'running');
    await nodesOf(2);
    const status = await home.run('status', '-n', 'one');
    assert.match(status.out, /2 worker/);
    const driver =
      'python -c \'import ray; ray.init(log_to_driver=False); print(len([n for n in ray.nodes() if n["Alive"]]), ray.__version__)\'';
    await cluster.submit({ id: 'head', entrypoint: `${driver}; touch ${open}` });
    await reaches('head', 'succeeded');
    assert.match((await cluster.log('head', 1)).toString(), /^3 \d/m);
    for (const id of ['a', 'b']) await reaches(id, 'succeeded');
    await nodesOf(0);
    const why = await home.run('events', '-n', 'one');
    assert.match(why.out, /idle/);
  });

  it('replaces a node whose raylet is killed, with the job that ran there', async () => {
    await cluster.submit({ id: 'c', entrypoint: 'sleep 1000', resources: { CPU: 1 }, retries: { node_lost: 2 } });
    await reaches('c', 'running');
    const [first] = await nodesOf(1);
    const raylets = running().filter(({ name }) => name === 'raylet');
    const ofFirst = raylets.find(({ pid }) => read(`/proc/${pid}/environ`).includes('RAY_NODE_TYPE_NAME=worker'));
    assert.ok(ofFirst, JSON.stringify(raylets));
    kill(ofFirst.pid);
    const second = await until('another node is there', async () =>
      (await workers()).find(({ status, instance }) => status === 'running' && instance !== first?.instance),
    );
    assert.ok(second);
    await until('the job runs again', async () => {
      const job = await cluster.job('c');
      return job.attempts.length === 2 && job.state === 'running';
    });

    const [mantad, supervisor] = [cluster.mantad, cluster.supervisor];
    for (const pid of [supervisor, mantad]) kill(pid as number);
    const up = await home.run('up', '-n', 'one');
    assert.equal(up.code, 0, up.err);
    assert.notEqual(cluster.mantad, mantad);
    assert.equal((await cluster.job('c')).attempts.length, 2, 'the job outlives mantad');
    assert.deepEqual(readPlace(cluster.folder), place);
    assert.deepEqual(
      (await nodesOf(1)).map(({ instance }) => instance),
      [second.instance],
    );
  });

  it('has another cluster beside it, and ends the one without touching the other', async () => {
    const other = await home.run('up', '-n', 'other', '--engine', 'ray', '--max-workers', '1');
    assert.equal(other.code, 0, other.err);
    const otherPlace = readPlace(home.folder('other')) as RayletPlace;
    assert.notEqual(otherPlace.gcsPort, place.gcsPort);
    assert.notEqual(otherPlace.temp, place.temp);
    const refused = await home.run('up', '-n', 'other', '--engine', 'embedded');
    assert.deepEqual([refused.code, /MANTA_RAY_VENV_ENGINE_FIXED/.test(refused.err)], [4, true], refused.err);
    const down = await home.run('down', '-y', '-n', 'other');
    assert.equal(down.code, 0, down.err);
    assert.equal(existsSync(otherPlace.temp), false);
    await cluster.submit({ id: 'still', entrypoint: 'echo still here' });
    await reaches('still', 'succeeded');
  });

  it('leaves nothing when it is ended, also when nobody serves it any more', async () => {
    assert.equal((await cluster.job('c')).state, 'running');
    for (const pid of [cluster.supervisor, cluster.mantad]) kill(pid as number);
    const down = await cluster.down();
    assert.equal(down.code, 0, down.err);
    assert.deepEqual(running(), []);
    assert.equal(existsSync(place.temp), false);
    assert.equal(existsSync(cluster.folder.path), false);
  });

  it('ends by itself when nobody has served it for longer than its lease', async () => {
    const left = await TestCluster.up(home, yaml('left').replace('engine: ray', 'engine: ray, lease: 10s'));
    assert.ok(running().some(({ name }) => name === 'raylet'));
    for (const pid of [left.supervisor, left.mantad]) kill(pid as number);
    await until('nothing of it runs', async () => running().length === 0);
    const down = await left.down();
    assert.equal(down.code, 0, down.err);
  });
});
