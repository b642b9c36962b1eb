// needs: cluster

/** The port of a cluster while its daemon is gone: nobody else gets it, and clients wait. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { closePair } from '../../../src/base/network/loopback.ts';
import { listenOnLoopback } from '../../../src/head/server/listen.ts';
import { changeCluster } from '../../../src/state/cluster-record.ts';
import { eventually, freePort, kill, listening, openFiles, raw, TestCluster, workersYaml } from '../test-cluster.ts';

/** What `localhost` can mean on this machine. */
const hosts = (await takes(0, '::1')) === 'free' ? ['127.0.0.1', '::1'] : ['127.0.0.1'];

test('nobody takes the port while mantad is started again, and clients wait instead of being refused', async (t) => {
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 4, max: 1 }) });
  await cluster.submit({ id: 'stays', entrypoint: 'sleep 600', resources: { CPU: 1 } });
  await cluster.reach('stays', 'running');
  const { port } = new URL(cluster.url);

  // Only those two have it: a job that had it could answer in mantad's place.
  const own = [cluster.mantad, cluster.supervisor];
  for (const { pid, command } of cluster.home.processes()) {
    const [found, right] = [listening([pid]).length, own.includes(pid) ? hosts.length : 0];
    if (found !== right) assert.fail(`${found}, not ${right}: ${command}: ${openFiles(pid).join(' ')}`);
  }

  for (let round = 0; round < 3; round++) {
    const before = cluster.mantad as number;
    kill(before);
    await eventually('it is gone', () => cluster.mantad !== before);
    for (const host of hosts) assert.equal(await takes(Number(port), host), 'EADDRINUSE', host);
    // One request, sent once, right now: it is answered by the daemon that comes.
    for (const url of [cluster.url, ...(hosts.includes('::1') ? [`http://[::1]:${port}`] : [])]) {
      const { status, body } = await raw(url, { path: '/healthz', headers: { connection: 'close' } });
      assert.deepEqual([status, body], [200, 'success'], url);
    }
    assert.notEqual(cluster.mantad, before);
  }
  assert.equal((await cluster.job('stays')).state, 'running');
  assert.equal((await cluster.down()).code, 0);
  for (const host of hosts) assert.equal(await takes(Number(port), host), 'free', 'down gives it back');
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

test('a port that another has at either address of localhost is passed over, and that is told', async (t) => {
  for (const host of hosts) {
    const other = createServer().listen(0, host);
    t.after(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const pair = { four: createServer(), six: createServer() };
    const order = { port: undefined, lastPort: port, heldPort: undefined, heldSix: false };
    const listening = await listenOnLoopback(pair, order);
    await closePair(pair);
    assert.equal(listening.taken, port, host);
    assert.notEqual(listening.port, port);
    await assert.rejects(listenOnLoopback(pair, { ...order, port }), { code: 'MANTA_HEAD_PORT_TAKEN' });
  }
});

/** Whether somebody else could listen there. */
function takes(port: number, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    probe.listen(port, host, () => probe.close(() => resolve('free')));
  });
}
