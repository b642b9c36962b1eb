import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Clock } from '../../../src/base/clock.ts';
import { makeFolder } from '../../../src/base/json-file.ts';
import { wallClock } from '../../../src/base/wall-clock.ts';
import type { GroundEdges } from '../../../src/head/ground.ts';
import { loadSpec } from '../../../src/head/load-spec.ts';
import { cloudMachines } from '../../../src/head/ray/cloud-machines.ts';
import { type RayHead, stateFolder } from '../../../src/head/state-folder.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { standInCloud } from '../../providers/lab-cloud/cloud-bed.ts';

const request = { token: 'one', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;

async function machinesOf(t: TestContext, clock: Clock = wallClock) {
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
  const edges = { folder, clock, spec: () => spec } as unknown as GroundEdges;
  const machines = await cloudMachines(edges, { id: 'c-1', instance: 'i-head' } as RayHead);
  t.after(() => machines.close());
  return { machines, folder };
}

test('a machine that only Ray knew is reached where the cloud lists it, as soon as that is known', async (t) => {
  const { machines } = await machinesOf(t);
  const [made] = await machines.provider.launch(request, never);
  const asRayKnows = { ...made, address: '10.9.9.9' } as ProviderInstance;
  const before = machines.hostOf(asRayKnows);
  assert.match(before.rsync().prefix, /10\.9\.9\.9/);
  let listed: ProviderInstance | undefined;
  await until('it is listed', async () => {
    [listed] = await machines.provider.list(never);
    return listed?.address !== undefined;
  });
  const host = machines.hostOf(listed!);
  assert.equal(host.rsync().prefix, before.rsync().prefix.replace('10.9.9.9', listed!.address!));
  assert.equal(machines.hostOf(listed!), host);
  assert.equal(machines.hostOf(asRayKnows), host, 'what Ray calls it changes nothing then');
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
