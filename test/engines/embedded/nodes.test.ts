// needs: cluster

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readJson } from '../../../src/base/files/json-file.ts';
import { readLog } from '../../../src/base/files/log-segments.ts';
import type { EmbeddedEngine } from '../../../src/engines/embedded/engine.ts';
import type { AgentRecord } from '../../../src/engines/embedded/protocol.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

test('graphics devices are seen only by those who booked them', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('gpu', 2);
  const order = (id: string, GPU: number) =>
    cluster.order(id, 'echo "[$CUDA_VISIBLE_DEVICES]"; while [ ! -e go ]; do sleep 0.02; done', {
      resources: { CPU: 1, ...(GPU > 0 ? { GPU } : {}) },
    });
  const orders = [order('one', 1), order('two', 1), order('pair', 2), order('none', 0)];
  for (const each of orders) await engine.start(each, never);
  const seen = await Promise.all(
    orders.map((each) =>
      until('it has said what it sees', async () => (await readLog(each.log, 0, 100)).bytes.toString().trim()),
    ),
  );
  assert.equal(seen[3], '[]');
  assert.deepEqual([...new Set(seen.slice(0, 3).join().match(/\d/g))].toSorted(), ['0', '1', '2', '3']);
  assert.equal(engine.hasRoom(order('more', 1)), false);
});

test('work that asks for no graphics device spares the nodes that have them', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [gpu] = await cluster.launch('gpu');
  const [large] = await cluster.launch('large');
  await engine.start(cluster.order('plain', 'sleep 1000'), never);
  const { node } = await cluster.running('plain');
  const home = (await engine.state(never)).nodes.find((each) => each.id === node)?.providerId;
  assert.equal(home, large);
  assert.notEqual(home, gpu);
});

test('labels choose the node', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const [gpu] = await cluster.launch('gpu');
  await engine.start(cluster.order('labelled', 'sleep 1000', { labels: { zone: '!a' } }), never);
  const { node } = await cluster.running('labelled');
  assert.equal((await engine.state(never)).nodes.find((each) => each.id === node)?.providerId, gpu);
});

test('what asks for nothing runs on the head, and nowhere else', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  assert.equal(engine.hasRoom({ resources: {}, labels: {} }), false);
  await cluster.launch('head');
  const head = (await engine.state(never)).nodes.find((node) => node.head);
  for (let index = 0; index < 5; index++)
    await engine.start(cluster.order(`free-${index}`, 'sleep 1000', { resources: {} }), never);
  for (let index = 0; index < 5; index++) assert.equal((await cluster.running(`free-${index}`)).node, head?.id);
  const busy = (await engine.state(never)).nodes.find((node) => node.head);
  assert.equal(busy?.idleFor, 0);
  assert.deepEqual(busy?.available, busy?.total);
});

test('a drained node takes no work and leaves, also for a head that came back', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const [node] = (await engine.state(never)).nodes;
  assert.deepEqual(await engine.drain(node?.id ?? '', { kind: 'idle' }, never), { accepted: true });
  const left = async (each: EmbeddedEngine): Promise<boolean> =>
    (await each.state(never)).nodes.every(({ state }) => state === 'dead');
  assert.equal(engine.hasRoom(cluster.order('x', 'true')), false);
  await until('it has left', () => left(engine));
  assert.equal(await left(await cluster.open()), true);
});

test('a node that was ended while it worked ends its attempts truthfully', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('cut', 'trap "echo saved; exit 0" TERM; while :; do sleep 0.02; done'), never);
  await cluster.running('cut');
  await cluster.provider.terminate([instance], never);
  const end = await cluster.ended('cut');
  assert.equal(end.cause, 'node-lost');
  await until('it is gone', async () => (await cluster.provider.list(never)).length === 0);
  assert.deepEqual(cluster.leftovers(), []);
});

test('standing requests outlive the head', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const requests = [{ request: { resources: { CPU: 3 }, selectors: [], placement: [] }, count: 2 }];
  await engine.requestResources(requests);
  assert.deepEqual((await (await cluster.open()).state(never)).demand.standing, [{ requests }]);
});

test('the state is told to have changed when a node comes, works and goes', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  let told = 0;
  const leave = engine.watchState(() => told++);
  const [instance = ''] = await cluster.launch('large');
  assert.ok(told > 0);
  told = 0;
  await engine.start(cluster.order('x', 'true'), never);
  await cluster.ended('x');
  assert.ok(told > 0);
  told = 0;
  process.kill(cluster.agentPid(instance), 'SIGKILL');
  await until('the loss is told', () => told > 0);
  leave();
});

test('sockets are private, also where the folder is too deep for a socket', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'manta-deep-'));
  const folder = join(root, 'x'.repeat(60), 'y'.repeat(60));
  mkdirSync(folder, { recursive: true });
  const cluster = new TestCluster(t, { folder });
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const engine = await cluster.open();
  const [instance] = await cluster.launch('large');
  const record = readJson<AgentRecord>(join(folder, 'agents', `${instance}.json`));
  assert.ok((record?.socket.length ?? 999) < 104);
  assert.equal(statSync(record?.socket ?? '').mode & 0o077, 0);
  await engine.start(cluster.order('deep', 'true'), never);
  assert.equal((await cluster.ended('deep')).cause, 'succeeded');
});
