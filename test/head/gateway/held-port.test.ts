/** The port of a cluster while its daemon is gone: nobody else gets it, and clients wait. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { changeCluster } from '../../../src/head/state-folder.ts';
import { eventually, freePort, kill, listening, raw, TestCluster, workersYaml } from '../test-cluster.ts';

test('nobody takes the port while mantad is started again, and clients wait instead of being refused', async (t) => {
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 4, max: 1 }) });
  await cluster.submit({ id: 'stays', entrypoint: 'sleep 600', resources: { CPU: 1 } });
  await cluster.reach('stays', 'running');
  const { port } = new URL(cluster.url);

  // Only those two have it: a job that had it could answer in mantad's place.
  const own = [cluster.mantad, cluster.supervisor];
  for (const { pid, command } of cluster.home.processes())
    assert.equal(listening([pid]).length, own.includes(pid) ? 1 : 0, `${command}: ${fdsOf(pid).join(' ')}`);

  for (let round = 0; round < 3; round++) {
    const before = cluster.mantad as number;
    kill(before);
    await eventually('it is gone', () => cluster.mantad !== before);
    assert.equal(await takes(Number(port)), 'EADDRINUSE');
    // One request, sent once, right now: it is answered by the daemon that comes.
    const { status, body } = await raw(cluster.url, { path: '/healthz', headers: { connection: 'close' } });
    assert.deepEqual([status, body], [200, 'success']);
    assert.notEqual(cluster.mantad, before);
  }
  assert.equal((await cluster.job('stays')).state, 'running');
  assert.equal((await cluster.down()).code, 0);
  assert.equal(await takes(Number(port)), 'free', 'down gives it back');
});

test('a daemon that was told another port lets go of the one before', async (t) => {
  const cluster = await TestCluster.start(t);
  const { port } = new URL(cluster.url);
  const next = await freePort();
  changeCluster(cluster.folder, (record) => ({ ...record, port: next }));
  kill(cluster.mantad as number);
  await eventually('it serves there', async () =>
    raw(`http://127.0.0.1:${next}`, { path: '/healthz' }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  await eventually('the old one is free', async () => (await takes(Number(port))) === 'free');
});

/** Whether somebody else could listen there. */
function takes(port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve('free')));
  });
}

function fdsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd}=${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
}
