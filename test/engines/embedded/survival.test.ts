// needs: cluster

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readLog } from '../../../src/base/files/log-segments.ts';
import { identify, isAlive, processTable } from '../../../src/base/process.ts';
import { EmbeddedEngine } from '../../../src/engines/embedded/engine.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

const headProcess = fileURLToPath(new URL('./head-process.ts', import.meta.url));

/** Writes its own number to `pid-<name>` in the cluster's folder, then sleeps in a session of its own. */
const escapee = (folder: string, name: string): string =>
  `setsid sh -c 'echo $$ > ${folder}/pid-${name}; exec sleep 1000' &`;

/** Nothing of one that is gone. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

const written = (folder: string, name: string): Promise<number> =>
  until(`${name} is up`, () => {
    const file = join(folder, `pid-${name}`);
    return existsSync(file) && Number(readFileSync(file, 'utf8'));
  });

test('a head killed at any moment loses no attempt and runs none twice', async (t) => {
  const cluster = new TestCluster(t);
  cluster.types.wide = { resources: { CPU: 8 } };
  await cluster.open();
  await cluster.launch('wide');
  cluster.engine.close();
  for (let round = 0; round < 6; round++) {
    const head = spawn(process.execPath, [headProcess, cluster.folder, '30', `r${round}-`], { stdio: 'inherit' });
    await until('the head works', () => existsSync(join(cluster.folder, 'journal')));
    await sleep(100 + Math.random() * 150);
    head.kill('SIGKILL');
    await once(head, 'exit');
  }
  const engine = await cluster.open();
  const ids = readFileSync(join(cluster.folder, 'journal'), 'utf8').trim().split('\n');
  const known = new Set((await engine.attempts(never)).map((report) => report.id));
  const lost = ids.filter((id) => !known.has(id));
  assert.ok(lost.length <= 6, `only what was being handed over can be unknown, not ${lost.join(', ')}`);
  for (const id of ids) {
    if (lost.includes(id)) continue;
    const end = await cluster.ended(id);
    assert.equal(end.cause, 'succeeded', `${id}: ${JSON.stringify(end)}`);
    const { bytes } = await readLog(join(cluster.folder, 'logs', id), 0, 1 << 16);
    assert.equal(bytes.toString(), `output of ${id}\n`);
  }
  const ran = readFileSync(join(cluster.folder, 'ran'), 'utf8').trim().split('\n');
  assert.deepEqual(ran.toSorted(), ids.filter((id) => !lost.includes(id)).toSorted());
  assert.deepEqual(cluster.leftovers(), []);
});

test('a killed agent takes its whole work with it, and the attempt ends as lost', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('lost', `${escapee(cluster.folder, 'a')} sleep 1000`), never);
  const pid = await written(cluster.folder, 'a');
  const { pid: leader = 0 } = await cluster.running('lost');
  process.kill(cluster.agentPid(instance), 'SIGKILL');
  const end = await cluster.ended('lost');
  assert.equal(end.cause, 'node-lost');
  await until('its work has ended', async () => identify(pid) === undefined && identify(leader) === undefined);
  assert.ok((await engine.state(never)).nodes.some((node) => node.providerId === instance && node.state === 'dead'));
  await until('the provider has noticed', async () => (await cluster.provider.list(never)).length === 0);
});

test('an agent killed while no head is there still leaves nothing running', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('alone', `${escapee(cluster.folder, 'b')} sleep 1000`), never);
  const pid = await written(cluster.folder, 'b');
  engine.close();
  process.kill(cluster.agentPid(instance), 'SIGKILL');
  await until('its work has ended', () => identify(pid) === undefined && cluster.leftovers().length === 0);
  await cluster.open();
  assert.equal((await cluster.ended('alone')).cause, 'node-lost');
});

test('the watcher of an agent is replaced when something kills it', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('watched', `${escapee(cluster.folder, 'c')} sleep 1000`), never);
  const pid = await written(cluster.folder, 'c');
  const agent = cluster.agentPid(instance);
  await cluster.running('watched');
  const watcher = (): number | undefined =>
    processTable().find((row) => row.parent === agent && commandOf(row.pid).includes('manta-lifeline'))?.pid;
  const first = await until('there is a watcher', watcher);
  process.kill(first, 'SIGKILL');
  await until('there is another', () => watcher() !== undefined && watcher() !== first);
  engine.close();
  process.kill(agent, 'SIGKILL');
  await until('its work has ended', () => identify(pid) === undefined);
});

test('an agent whose lease lapses ends its attempts and itself', async (t) => {
  const cluster = new TestCluster(t, { lease: 3_000 });
  const engine = await cluster.open({ renewEvery: 50 });
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('leased', `${escapee(cluster.folder, 'd')} sleep 1000`), never);
  await cluster.running('leased');
  const pid = await written(cluster.folder, 'd');
  const agent = identify(cluster.agentPid(instance));
  engine.close();
  await until('the agent has ended itself', () => agent && !isAlive(agent));
  assert.equal(identify(pid), undefined);
  await cluster.open();
  const end = await cluster.ended('leased');
  assert.equal(end.cause, 'node-lost');
  assert.match(end.message ?? '', /lease/);
});

test('an agent whose lease is renewed lives on', async (t) => {
  const cluster = new TestCluster(t, { lease: 3_000 });
  const engine = await cluster.open({ renewEvery: 50 });
  await cluster.launch('large');
  await engine.start(cluster.order('renewed', 'sleep 4; echo still here'), never);
  assert.equal((await cluster.ended('renewed')).cause, 'succeeded');
});

test('an agent that stands still is ended, and its attempt counts as lost', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open({ renewEvery: 50, silentAfter: 3_000 });
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('frozen', 'sleep 1000'), never);
  const { pid = 0 } = await cluster.running('frozen');
  process.kill(cluster.agentPid(instance), 'SIGSTOP');
  assert.equal((await cluster.ended('frozen')).cause, 'node-lost');
  assert.equal(identify(pid), undefined);
});

test('an attempt on a node that was announced as preempted ends as preempted', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  await engine.start(cluster.order('spot', 'sleep 1000'), never);
  const { node = '' } = await cluster.running('spot');
  await engine.drain(node, { kind: 'preemption', deadline: Date.now() + 60_000 }, never);
  assert.equal(engine.hasRoom(cluster.order('more', 'true')), false);
  process.kill(cluster.agentPid(instance), 'SIGKILL');
  assert.equal((await cluster.ended('spot')).cause, 'preempted');
});

test('a gang ends as lost when any of its nodes is lost', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const instances = await cluster.launch('small', 2);
  const gang = { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'STRICT_SPREAD' };
  await engine.start(cluster.order('gang', 'echo "$MANTA_GANG"; sleep 1000', { resources: {}, gang }), never);
  const { node } = await cluster.running('gang');
  const { nodes } = await engine.state(never);
  assert.ok(nodes.every((each) => each.available.CPU === 0 && each.idleFor === 0));
  const other = nodes.find((each) => each.id !== node)?.providerId ?? '';
  assert.ok(instances.includes(other));
  process.kill(cluster.agentPid(other), 'SIGKILL');
  assert.equal((await cluster.ended('gang')).cause, 'node-lost');
  await until('the other bundle is free again', async () => {
    const left = (await engine.state(never)).nodes.find((each) => each.id === node);
    return left?.available.CPU === 1;
  });
});

test('a gang survives the head, and its bundles are free when it ends', async (t) => {
  const cluster = new TestCluster(t);
  await cluster.open();
  await cluster.launch('small', 2);
  const gang = { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'SPREAD' };
  await cluster.engine.start(cluster.order('gang', 'sleep 1000', { resources: {}, gang }), never);
  await cluster.running('gang');
  const engine = await cluster.open();
  assert.ok((await engine.state(never)).nodes.every((node) => node.available.CPU === 0));
  await engine.stop('gang', 0, never);
  await cluster.ended('gang');
  await until('all is free', async () => (await engine.state(never)).nodes.every((node) => node.available.CPU === 1));
  assert.ok(engine.hasRoom(cluster.order('next', 'true', { resources: {}, gang })));
});

test('a gang whose node fails before it has started is placed anew', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open({ renewEvery: 50, silentAfter: 3_000 });
  const instances = await cluster.launch('small', 2);
  const gang = { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'STRICT_SPREAD' };
  // Of equal nodes the first by name is the gang's home; the other one only keeps room.
  const keeper = instances.toSorted()[1] ?? '';
  process.kill(cluster.agentPid(keeper), 'SIGSTOP');
  await engine.start(cluster.order('gang', 'echo once', { resources: {}, gang }), never);
  await until('the node is lost', async () =>
    (await engine.state(never)).nodes.some((node) => node.providerId === keeper && node.state === 'dead'),
  );
  assert.equal((await cluster.report('gang'))?.state, 'waiting');
  await cluster.launch('small');
  assert.equal((await cluster.ended('gang')).cause, 'succeeded');
});

test('a gang that lost a node while no head was there is ended by the next head', async (t) => {
  const cluster = new TestCluster(t);
  await cluster.open();
  const instances = await cluster.launch('small', 2);
  const gang = { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'STRICT_SPREAD' };
  await cluster.engine.start(cluster.order('gang', 'sleep 1000', { resources: {}, gang }), never);
  await cluster.running('gang');
  cluster.engine.close();
  process.kill(cluster.agentPid(instances.toSorted()[1] ?? ''), 'SIGKILL');
  await cluster.open();
  assert.equal((await cluster.ended('gang')).cause, 'node-lost');
});

test('a head that has forgotten where an attempt runs does not run it elsewhere', async (t) => {
  const cluster = new TestCluster(t);
  await cluster.open();
  await cluster.launch('small', 3);
  const ids = ['a', 'b'];
  for (const id of ids) {
    const entrypoint = `echo ${id} >> ${cluster.folder}/ran; while [ ! -e ${cluster.folder}/go ]; do sleep 0.02; done`;
    await cluster.engine.start(cluster.order(id, entrypoint), never);
    await cluster.running(id);
  }
  cluster.engine.close();
  for (const id of ids) {
    const file = join(cluster.folder, 'attempts', id, 'order.json');
    const { placement: _, ...record } = JSON.parse(readFileSync(file, 'utf8')) as { placement: unknown };
    writeFileSync(file, JSON.stringify(record));
  }
  const engine = await cluster.open();
  for (const id of ids) await cluster.running(id);
  await until('what they use is booked again', async () => {
    const { nodes } = await engine.state(never);
    return nodes.filter((node) => node.available.CPU === 0).length === 2;
  });
  writeFileSync(join(cluster.folder, 'go'), '');
  for (const id of ids) assert.equal((await cluster.ended(id)).cause, 'succeeded');
  assert.equal(readFileSync(join(cluster.folder, 'ran'), 'utf8').trim().split('\n').toSorted().join(), 'a,b');
});

test('an older head is not heard once a newer one has greeted', async (t) => {
  const cluster = new TestCluster(t);
  const old = await EmbeddedEngine.open({
    folder: cluster.folder,
    clock: { now: () => Date.now(), sleep: async () => {} },
  });
  t.after(() => old.close());
  const engine = await cluster.open();
  await cluster.launch('large');
  await until('the older one has given up', () => !old.hasRoom(cluster.order('x', 'true')));
  await old.start(cluster.order('stale', 'echo ran'), never);
  await engine.start(cluster.order('fresh', 'echo ran'), never);
  assert.equal((await cluster.ended('fresh')).cause, 'succeeded');
  assert.equal((await old.attempts(never)).find((report) => report.id === 'stale')?.state, 'waiting');
});
