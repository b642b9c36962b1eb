import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolder } from '../../../src/base/files/json-file.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import type { BackendContext } from '../../../src/head/backend/backend.ts';
import { cloudMachines } from '../../../src/head/ray/machines/cloud-machines.ts';
import { withLaunchHashes } from '../../../src/head/ray/machines/launch-hashes.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { createCluster, type RayHead } from '../../../src/state/cluster-record.ts';
import { loadSpec } from '../../../src/state/load-spec.ts';
import { stateFolder } from '../../../src/state/state-folder.ts';
import { never, until } from '../../contract/waiting.ts';
import { standInCloud } from '../../providers/lab-cloud/cloud-bed.ts';

const request = { token: 'one', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;

async function machinesOf(
  t: TestContext,
  clock: Clock = wallClock,
  complete: (spec: ClusterSpec) => ClusterSpec = (spec) => spec,
) {
  const served = await standInCloud(t);
  const home = mkdtempSync(join(tmpdir(), 'manta-machines-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'bed');
  makeFolder(dirname(folder.files.key));
  writeFileSync(`${folder.files.key}.pub`, 'ssh-ed25519 AAAA test\n');
  writeFileSync(join(folder.path, 'credential'), served.token);
  const text = `
cluster_name: bed
provider: {type: lab_cloud, endpoint: "${served.endpoint}"}
head_node_type: head
available_node_types: {head: {node_config: {machine_type: small}}, worker: {node_config: {machine_type: small}}}
`;
  const spec = loadSpec({ name: 'bed', config: { path: 'bed.yaml', text, env: {} } });
  const edges = { folder, clock, spec: () => complete(spec) } as unknown as BackendContext;
  const machines = await cloudMachines(edges, { id: 'c-1', instance: 'i-head' } as RayHead);
  t.after(() => machines.close());
  return { machines, folder, token: served.token };
}

test('a machine that only Ray knew is reached where the cloud lists it, as soon as that is known', async (t) => {
  const { machines } = await machinesOf(t);
  const [made] = await machines.provider.launch(request, never);
  const asRayKnows = { ...made, address: { inside: '10.9.9.9' } } as ProviderInstance;
  const before = machines.hostOf(asRayKnows);
  assert.match(before.rsync().prefix, /10\.9\.9\.9/);
  let listed: ProviderInstance | undefined;
  await until('it is listed', async () => {
    [listed] = await machines.provider.list(never);
    return listed?.address !== undefined;
  });
  const host = machines.hostOf(listed!);
  assert.equal(host.rsync().prefix, before.rsync().prefix.replace('10.9.9.9', listed!.address!.inside!));
  assert.equal(machines.hostOf(listed!), host);
  assert.equal(machines.hostOf(asRayKnows), host, 'what Ray calls it changes nothing then');
});

test('a machine carries the hash of what it was made with', async (t) => {
  const { machines } = await machinesOf(t, wallClock, (spec) => withLaunchHashes(spec, { mounts: [] }));
  await machines.provider.launch(request, never);
  const [machine] = await until('it is listed', async () => {
    const listed = await machines.provider.list(never);
    return listed.length > 0 ? listed : undefined;
  });
  assert.match(machine?.tags['manta-launch-hash'] ?? '', /^[0-9a-f]{16}$/);
});

test('mantad asks by the credential that up handed over, or by the machine where the record says so', async (t) => {
  const { machines, folder, token } = await machinesOf(t);
  await machines.provider.list(never);
  writeFileSync(folder.files.credential, 'another');
  await assert.rejects(machines.provider.list(never), /MANTA_PROVIDER_DENIED|refused 'list'/);
  writeFileSync(folder.files.credential, token);
  await machines.provider.list(never);
  const ray = { id: 'c-1', instance: 'i-head', address: '10.0.0.1', gcsPort: 1, dashboardPort: 2 };
  const head = { ...ray, loginShells: true, usageStats: false, mounts: [], identity: 'machine' } as const;
  createCluster(folder, { role: 'head', createdAt: 0, engine: 'ray', ray: head });
  await assert.rejects(machines.provider.list(never), /have no identity of their own/);
});

test('what is kept of a machine goes when no list has shown it for long, also what an earlier mantad left', async (t) => {
  let ahead = 0;
  const clock = { ...wallClock, elapsed: () => performance.now() + ahead };
  const { machines, folder } = await machinesOf(t, clock);
  const list = () => machines.provider.list(never);
  const pin = (id: string): string => join(folder.files.hosts, `${id}.pin`);
  const [stays, goes] = await machines.provider.launch({ ...request, count: 2 }, never);
  assert.ok(stays && goes);
  await until(
    'both are listed',
    async () => (await list()).filter(({ address }) => address !== undefined).length === 2,
  );
  makeFolder(folder.files.hosts);
  for (const id of [stays.id, goes.id, 'i-before', 'i-head']) writeFileSync(pin(id), 'a key');
  const before = machines.hostOf(stays);
  machines.hostOf(goes);
  await machines.provider.terminate([goes.id], never);
  await until('it is gone', async () => !(await list()).some(({ id }) => id === goes.id));
  ahead = 600_000;
  await list();
  assert.ok(existsSync(pin(goes.id)), 'lists lag');
  assert.notEqual(machines.addressOf(goes.id), undefined);
  ahead = 24 * 3_600_000;
  await list();
  assert.deepEqual(
    [stays.id, goes.id, 'i-before', 'i-head'].map((id) => existsSync(pin(id))),
    [true, false, false, true],
  );
  assert.equal(machines.addressOf(goes.id), undefined);
  assert.equal(machines.hostOf(stays), before);
});
