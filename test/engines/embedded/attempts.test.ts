// needs: cluster

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logExtent, readLog } from '../../../src/base/files/log-segments.ts';
import { identify } from '../../../src/base/process.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

const output = async (order: AttemptOrder): Promise<string> =>
  (await readLog(order.log, 0, 1 << 20)).bytes.toString('utf8');

const pidIn = (folder: string, name: string): number => Number(readFileSync(join(folder, name), 'utf8'));

/** Tells its own number, and stays. */
const stays = 'sh -c \'echo $$ > "$F/pid"; exec sleep 1000\'';

for (const [how, script] of [
  ['in the background', `${stays} &`],
  ['in a session of its own', `setsid ${stays} &`],
  ['as a daemon', `(setsid ${stays} </dev/null >/dev/null 2>&1 &)`],
  ['deaf to SIGTERM', 'sh -c \'trap "" TERM; echo $$ > "$F/pid"; while :; do sleep 0.1; done\' &'],
  ['without its environment', `setsid env -i F="$F" ${stays} >/dev/null &`],
  ['elsewhere without its environment', `cd /; setsid env -i F="$F" ${stays} &`],
] as const)
  test(`a process left behind ${how} ends with the attempt`, async (t) => {
    const cluster = new TestCluster(t);
    const engine = await cluster.open();
    await cluster.launch('large');
    const order = cluster.order('leaves', `${script}\nuntil [ -s "$F/pid" ]; do sleep 0.01; done; echo done`, {
      env: { F: cluster.folder },
    });
    await engine.start(order, never);
    const end = await cluster.ended('leaves');
    assert.equal(end.cause, 'succeeded');
    assert.equal(await output(order), 'done\n');
    const pid = pidIn(cluster.folder, 'pid');
    assert.ok(pid > 1);
    assert.equal(identify(pid), undefined);
  });

test('a stop reaches what has left the session', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const script = 'setsid sh -c \'trap "" TERM; echo $$ > "$F/pid"; while :; do sleep 0.1; done\' & sleep 1000';
  await engine.start(cluster.order('stopped', script, { env: { F: cluster.folder } }), never);
  await until('it is up', () => existsSync(join(cluster.folder, 'pid')) && pidIn(cluster.folder, 'pid') > 1);
  await engine.stop('stopped', 200, never);
  assert.equal((await cluster.ended('stopped')).cause, 'stopped');
  assert.equal(identify(pidIn(cluster.folder, 'pid')), undefined);
  assert.deepEqual(cluster.leftovers(), []);
});

test('an entrypoint that kills its own process group hurts nobody else', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  await engine.start(cluster.order('bystander', 'sleep 0.5; echo fine'), never);
  await engine.start(cluster.order('suicidal', 'kill -9 0'), never);
  const end = await cluster.ended('suicidal');
  assert.equal(end.cause, 'failed');
  assert.equal(end.exitCode, 137);
  assert.match(end.message ?? '', /SIGKILL/);
  assert.equal((await cluster.ended('bystander')).cause, 'succeeded');
});

test('a burst of output is kept to the last byte', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const size = 24 << 20;
  const script = `node -e '
    const { createHash } = require("node:crypto"); const { writeSync } = require("node:fs");
    const hash = createHash("sha256"); const chunk = Buffer.alloc(1 << 16);
    for (let at = 0; at < ${size}; at += chunk.length) {
      for (let i = 0; i < chunk.length; i += 8) chunk.writeDoubleLE(at + i, i);
      for (let done = 0; done < chunk.length; ) done += writeSync(1, chunk, done);
      hash.update(chunk);
    }
    require("node:fs").writeFileSync(process.env.F + "/digest", hash.digest("hex"));'`;
  const order = cluster.order('burst', script, { env: { F: cluster.folder } });
  await engine.start(order, never);
  const end = await cluster.ended('burst');
  assert.equal(end.cause, 'succeeded', end.message);
  assert.equal(end.logSize, size);
  assert.deepEqual(await logExtent(order.log), { start: 0, size, ended: true });
  const hash = createHash('sha256');
  for (let at = 0; at < size; ) {
    const piece = await readLog(order.log, at, 1 << 20);
    hash.update(piece.bytes);
    at = piece.next;
  }
  assert.equal(hash.digest('hex'), readFileSync(join(cluster.folder, 'digest'), 'utf8'));
});

test('output can be written through /dev/stdout and /dev/stderr', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const order = cluster.order('devices', 'echo out > /dev/stdout; echo err > /dev/stderr');
  await engine.start(order, never);
  assert.equal((await cluster.ended('devices')).cause, 'succeeded');
  assert.equal(await output(order), 'out\nerr\n');
});

test('an attempt that takes more memory than it asked for is killed for that reason', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const hog = 'node -e "const all = []; setInterval(() => all.push(Buffer.alloc(8 << 20, 1)), 5)"';
  await engine.start(cluster.order('hog', `sh -c '${hog}'`, { resources: { CPU: 1, memory: 150 << 20 } }), never);
  await engine.start(
    cluster.order('modest', 'sleep 1; echo fine', { resources: { CPU: 1, memory: 150 << 20 } }),
    never,
  );
  const end = await cluster.ended('hog');
  assert.equal(end.cause, 'memory-limit');
  assert.match(end.message ?? '', /requested 150 MiB/);
  assert.equal((await cluster.ended('modest')).cause, 'succeeded');
});

test('a hundred attempts at once all run, and nothing of them is left', async (t) => {
  const cluster = new TestCluster(t);
  cluster.types.wide = { resources: { CPU: 50 } };
  const engine = await cluster.open();
  await cluster.launch('wide', 2);
  const orders = Array.from({ length: 100 }, (_, index) => cluster.order(`many-${index}`, `echo ${index}; sleep 0.2`));
  await Promise.all(orders.map((order) => engine.start(order, never)));
  for (const [index, order] of orders.entries()) {
    assert.equal((await cluster.ended(order.id)).cause, 'succeeded');
    assert.equal(await output(order), `${index}\n`);
  }
  assert.deepEqual(cluster.leftovers(), []);
  const { nodes } = await engine.state(never);
  assert.ok(nodes.every((node) => node.available.CPU === 50));
});

test('each attempt works in a copy of its working folder', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const source = join(cluster.folder, 'source');
  mkdirSync(join(source, 'sub'), { recursive: true });
  writeFileSync(join(source, 'sub', 'run.sh'), 'echo "$1" > mine; cat sub/data; cat link', { mode: 0o755 });
  writeFileSync(join(source, 'sub', 'data'), 'data\n');
  symlinkSync('sub/data', join(source, 'link'));
  const order = cluster.order('copied', 'sh sub/run.sh hello', { workingDir: source });
  await engine.start(order, never);
  assert.equal((await cluster.ended('copied')).cause, 'succeeded');
  assert.equal(await output(order), 'data\ndata\n');
  assert.equal(existsSync(join(source, 'mine')), false);
});

test('an attempt without a working folder gets an empty one of its own', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const order = cluster.order('empty', 'ls -A; touch here; ls');
  await engine.start(order, never);
  await cluster.ended('empty');
  assert.equal(await output(order), 'here\n');
});

test('an attempt that cannot be started says why', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  await engine.start(cluster.order('nowhere', 'true', { workingDir: join(cluster.folder, 'missing') }), never);
  await engine.start(cluster.order('huge', 'true', { env: { BIG: 'x'.repeat(4 << 20) } }), never);
  const [nowhere, huge] = [await cluster.ended('nowhere'), await cluster.ended('huge')];
  assert.equal(nowhere.cause, 'start-failed');
  assert.match(nowhere.message ?? '', /missing/);
  assert.equal(huge.cause, 'start-failed');
  assert.match(huge.message ?? '', /E2BIG/);
});

test('ids that are no file names are as good as others', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const ids = ['../../../escape.1', 'with space.1', 'ünï.1', `${'long'.repeat(60)}.1`, '-rf.1'];
  for (const id of ids) await engine.start(cluster.order(id, 'pwd'), never);
  for (const id of ids) assert.equal((await cluster.ended(id)).cause, 'succeeded');
  const fresh = await cluster.open();
  assert.deepEqual((await fresh.attempts(never)).map((report) => report.id).toSorted(), ids.toSorted());
});
