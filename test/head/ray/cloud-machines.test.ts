import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../src/base/json-file.ts';
import { wallClock } from '../../../src/base/wall-clock.ts';
import type { GroundEdges } from '../../../src/head/ground.ts';
import { loadSpec } from '../../../src/head/load-spec.ts';
import { cloudMachines } from '../../../src/head/ray/cloud-machines.ts';
import { type RayHead, stateFolder } from '../../../src/head/state-folder.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { standInCloud } from '../../providers/lab-cloud/cloud-bed.ts';

test('a machine that only Ray knew is reached where the cloud lists it, as soon as that is known', async (t) => {
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
  const edges = { folder, clock: wallClock, spec: () => spec } as unknown as GroundEdges;
  const machines = await cloudMachines(edges, { id: 'c-1', instance: 'i-head' } as RayHead);
  t.after(() => machines.close());

  const request = { token: 'one', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;
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
