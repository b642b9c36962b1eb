/** What lab/cloud/behaviour.md says that dialects use, on machines that are none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../../lab/cloud/belongings.ts';
import { until } from '../contract/waiting.ts';
import { standInCloud } from '../providers/lab-cloud/cloud-bed.ts';

test('instances have the names of their order, and whoever wants to is told of every change', async (t) => {
  const { cloud, admin } = await standInCloud(t);
  const told: string[] = [];
  cloud.changed.add(({ name, now }) => told.push(`${name} ${now.state}`));
  cloud.make('lab', { machine_type: 'small', names: ['a', 'b'], count: 2 });
  await until('both run', () => told.includes('a running') && told.includes('b running'));
  assert.deepEqual(
    (await admin.instances()).map(({ name }) => name),
    ['a', 'b'],
  );
});

test('a preemption stops what asked for that, and a start lets it be preempted again', async (t) => {
  const { cloud } = await standInCloud(t);
  const [stays] = cloud.make('lab', { machine_type: 'small', market: 'spot', on_preemption: 'stop' });
  const [goes] = cloud.make('lab', { machine_type: 'small', market: 'spot' });
  const reaches = (state: string) => until(`it is ${state}`, () => stays!.now.state === state);
  await reaches('running');
  for (const each of [stays!, goes!]) cloud.preempt(each.id, 0.01);
  await reaches('stopped');
  assert.equal(stays!.now.cause, 'preemption');
  await until('the other is gone', () => !goes!.exists);
  cloud.start('lab', stays!.id);
  await reaches('running');
  assert.equal(stays!.now.preemptionAt, undefined);
  cloud.preempt(stays!.id, 0);
  await reaches('stopped');
});

test('a machine may switch itself off without anybody taking notice', async (t) => {
  const { cloud, hypervisor } = await standInCloud(t);
  const [made] = cloud.make('lab', { machine_type: 'small', on_shutdown: 'stay' });
  await until('it runs', () => made!.now.state === 'running');
  hypervisor.orders[0]!.poweredOff();
  assert.equal(made!.now.state, 'running');
  assert.equal(cloud.costs().length, 1);
});

test('what a dialect alone has is among what accounts have', async (t) => {
  const { cloud, admin } = await standInCloud(t);
  const rules = new Store();
  cloud.has.others.set('firewall', rules);
  rules.add({ id: 'r', account: 'lab', createdAt: 0, tags: {} });
  assert.deepEqual(
    (await admin.belongings('lab')).map(({ kind, id }) => [kind, id]),
    [['firewall', 'r']],
  );
  assert.deepEqual(await admin.belongings('other'), []);
});
