// needs: openssl, google-discovery

/** What a machine can do for a cluster of which it has the file alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endInstances } from '../../../src/autoscaler/teardown.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { CloudClient, PreparedCloud } from '../../../src/providers/clouds.ts';
import { clustersOf, GoogleProvider } from '../../../src/providers/google/provider.ts';
import { never } from '../../contract/waiting.ts';
import { specOf } from '../../core/spec/cluster-text.ts';
import { ask, tpuZone } from './google-bed.ts';
import { cluster, preparationBed } from './prepare-bed.ts';

const text = cluster({
  machine: 'acceleratorType: v4-16',
  places: `region: us-central2, availability_zone: ${tpuZone}`,
});
const waits = text.replace(
  'project_id: lab-project',
  'project_id: lab-project, manta: {node_types: {worker: {queued: true}}}',
);

type Bed = Awaited<ReturnType<typeof preparationBed>>;

const clientOf = (bed: Bed, file: string, clusterId: string, prepared?: PreparedCloud): CloudClient => ({
  cluster: 'demo',
  clusterId,
  spec: () => specOf(file),
  login: () => ({ user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA head' }),
  identity: () => ({ kind: 'user', env: bed.environment() }),
  prepared: () => prepared,
});

const slice = (token: string) => ask(token, { zone: tpuZone, slice: { hosts: 2 } });

test('it finds slices by the name of the cluster, also those that only wait, and ends them', async (t) => {
  const bed = await preparationBed(t);
  const prepared = await bed.up({ text: waits });
  const own = new GoogleProvider(clientOf(bed, waits, '0123abcd4567', prepared));
  const [made] = await own.launch(slice('runs'), never);
  await bed.admin.set({ capacity: [{ limit: 0 }] });
  await own.launch(slice('waits'), never);

  const [found, ...others] = await clustersOf(clientOf(bed, waits, ''), never);
  assert.deepEqual([found?.id, found?.instances.length, others], ['0123abcd4567', 2, []]);
  assert.ok(found!.instances.includes(made!.slice!.id));
  const other = new GoogleProvider(clientOf(bed, waits, found!.id));
  assert.equal((await other.list(never)).length, 4);
  await endInstances(other, { clock: wallClock, settles: 0, within: 60_000 }, never);
  assert.deepEqual([bed.world.tpu.slices.size, bed.world.tpu.queue.all()], [0, []]);
});

test('it deletes the account, the role and the rules that were made for the cluster, and names what stays', async (t) => {
  const bed = await preparationBed(t);
  for (const { id, body } of bed.project.firewalls.of(bed.project.id))
    if (body.name === 'default-allow-ssh') bed.project.firewalls.delete(id);
  const before = new Set((await bed.admin.belongings()).map(({ id }) => id));
  const left = async (): Promise<readonly string[]> =>
    (await bed.admin.belongings()).filter(({ id }) => !before.has(id)).map(({ kind }) => kind);
  await bed.up({ text });
  assert.deepEqual((await left()).toSorted(), ['custom-role', 'firewall', 'service-account']);
  const other = new GoogleProvider(clientOf(bed, text, '0123abcd4567'));
  assert.deepEqual((await other.remains(never)).map(({ kind }) => kind).toSorted(), [
    'firewall rule',
    'role',
    'service account',
  ]);
  await other.release(never);
  assert.deepEqual(await other.remains(never), []);
  assert.deepEqual(await left(), []);
});

test('slices of a type that the file has no more are still those of the cluster', async (t) => {
  const bed = await preparationBed(t);
  const prepared = await bed.up({ text });
  await new GoogleProvider(clientOf(bed, text, '0123abcd4567', prepared)).launch(slice('stays'), never);
  const without = cluster({ places: `region: us-central2, availability_zone: ${tpuZone}` });
  const again = await bed.up({ text: without, prepared });
  assert.equal((await new GoogleProvider(clientOf(bed, without, '0123abcd4567', again)).list(never)).length, 2);
});

test('a file without a project is looked for in that of the credentials', async (t) => {
  const bed = await preparationBed(t);
  const prepared = await bed.up({ text });
  await new GoogleProvider(clientOf(bed, text, '0123abcd4567', prepared)).launch(slice('one'), never);
  const unnamed = text.replace('project_id: lab-project', 'project_id: null');
  assert.equal((await clustersOf(clientOf(bed, unnamed, ''), never)).length, 1);
});
