// needs: cluster

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify, isAlive } from '../../../src/base/process.ts';
import { processErrors } from '../../../src/providers/process/errors.ts';
import { readFaults } from '../../../src/providers/process/faults.ts';
import { readRecord } from '../../../src/providers/process/record.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from '../../engines/embedded/cluster.ts';

test('a slow instance runs at once and registers late', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ bootDelay: 5_000 }] });
  const engine = await cluster.open();
  await cluster.launch('small', 1, false);
  await until('it runs', async () => (await cluster.provider.list(never))[0]?.state === 'running');
  assert.deepEqual((await engine.state(never)).nodes, []);
  await until('it has registered', async () => (await engine.state(never)).nodes.length === 1);
});

test('an instance that hangs never registers, and can be ended', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ hang: true }] });
  const engine = await cluster.open();
  const [id = ''] = await cluster.launch('small', 1, false);
  await until('it runs', async () => (await cluster.provider.list(never))[0]?.state === 'running');
  const agent = identify(cluster.agentPid(id));
  assert.deepEqual((await engine.state(never)).nodes, []);
  await cluster.provider.terminate([id], never);
  await until('it is gone', async () => (await cluster.provider.list(never)).length === 0);
  assert.ok(agent && !isAlive(agent));
});

test('an instance that vanishes leaves the list and its work ends', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ vanishAfter: 5_000 }] });
  const engine = await cluster.open();
  await cluster.launch('small');
  await engine.start(cluster.order('doomed', 'setsid sleep 1000 & sleep 1000'), never);
  assert.equal((await cluster.ended('doomed')).cause, 'node-lost');
  await until('the list shows it', async () => (await cluster.provider.list(never)).length === 0);
  assert.deepEqual(cluster.leftovers(), []);
});

test('a preemption is announced, then happens', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ preemptAfter: 3_000, preemptNotice: 2_900 }] });
  await cluster.open();
  await cluster.launch('small', 1, false);
  const noticed = await until('the notice', async () => (await cluster.provider.list(never))[0]?.preemptionAt);
  assert.ok(noticed > 0);
  await until('it is gone', async () => (await cluster.provider.list(never)).length === 0);
});

test('a rule counts launches and looks at the type', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ refuse: 'quota', type: 'large', times: 1 }] });
  await cluster.launch('small', 1, false);
  await assert.rejects(cluster.launch('large', 1, false), /quota/);
  await cluster.launch('large', 1, false);
});

test('a launch that was cut off after its record is finished by the next head', async (t) => {
  const cluster = new TestCluster(t);
  const [first = ''] = await cluster.launch('small', 1, false);
  await until('it runs', async () => (await cluster.provider.list(never))[0]?.state === 'running');
  const agent = identify(cluster.agentPid(first));
  // What a head leaves that dies before it has started the agent: the folder with the record and nothing else.
  const folder = join(cluster.folder, 'instances', first);
  process.kill(agent?.pid ?? 0, 'SIGKILL');
  await until('the agent is dead', () => agent && !isAlive(agent));
  rmSync(join(folder, 'process.json'));
  const fresh = cluster.makeProvider();
  assert.equal((await fresh.list(never))[0]?.state, 'pending');
  await until('it runs again', async () => (await fresh.list(never))[0]?.state === 'running');
});

test('two agents on one folder: the second gives way', async (t) => {
  const cluster = new TestCluster(t, { faults: [{ bootDelay: 100 }] });
  const [id = ''] = await cluster.launch('small', 1, false);
  const other = cluster.makeProvider();
  await other.list(never);
  await until('it runs', async () => (await other.list(never))[0]?.state === 'running');
  const pid = cluster.agentPid(id);
  await cluster.open();
  await until('it has registered', async () => (await cluster.engine.state(never)).nodes.length === 1);
  assert.equal(cluster.agentPid(id), pid);
});

test('a record that cannot be read costs one instance, not the list', async (t) => {
  const cluster = new TestCluster(t);
  const [good = '', bad = ''] = await cluster.launch('small', 2, false);
  await until('both run', async () => (await cluster.provider.list(never)).every((each) => each.state === 'running'));
  const agent = identify(cluster.agentPid(bad));
  writeFileSync(join(cluster.folder, 'instances', bad, 'instance.json'), '{"half');
  assert.deepEqual(
    (await cluster.provider.list(never)).map((each) => each.id),
    [good],
  );
  await cluster.provider.settled();
  assert.ok(agent && !isAlive(agent));
  assert.equal(existsSync(join(cluster.folder, 'instances', bad)), false);
});

test('a folder that another cluster copied is not mistaken for a live instance', async (t) => {
  const cluster = new TestCluster(t);
  const [id = ''] = await cluster.launch('small', 1, false);
  await until('it runs', async () => (await cluster.provider.list(never))[0]?.state === 'running');
  const folder = join(cluster.folder, 'instances');
  const agent = identify(cluster.agentPid(id));
  mkdirSync(join(cluster.folder, 'copy'));
  cpSync(join(folder, id), join(cluster.folder, 'copy', id), { recursive: true });
  assert.equal(readRecord(join(cluster.folder, 'copy', id))?.id, id);
  // A process with another start time is another process, whatever its number.
  assert.equal(agent && isAlive({ ...agent, started: `${agent.started}0` }), false);
});

test('ended instances leave their log behind', async (t) => {
  const cluster = new TestCluster(t);
  const [id = ''] = await cluster.launch('small', 1, false);
  await cluster.provider.terminate([id], never);
  await cluster.provider.settled();
  assert.ok(existsSync(join(cluster.folder, 'instances', '.ended', id, 'agent.log')));
});

test('fault knobs are read from the cluster file and checked', () => {
  const faults = [
    { type: 'small', times: 2, refuse: 'quota' },
    { boot_delay_s: 1.5, hang: true, lose_answer: false },
  ];
  assert.deepEqual(readFaults(faults), [
    { type: 'small', times: 2, refuse: 'quota' },
    { bootDelay: 1500, hang: true, loseAnswer: false },
  ]);
  assert.deepEqual(readFaults([]), []);
  for (const bad of [['hang'], [{ hangs: true }], [{ hang: 'yes' }], [{ refuse: 'maybe' }], [{ vanish_after_s: -1 }]])
    assert.throws(() => readFaults(bad), { code: processErrors.BadFault.code });
});
