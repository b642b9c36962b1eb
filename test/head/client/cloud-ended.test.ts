import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endedInCloud } from '../../../src/head/client/cloud-ended.ts';
import { endedTags } from '../../../src/head/ray/ended-tags.ts';
import { createCluster, readCluster, stateFolder } from '../../../src/head/state-folder.ts';
import { never, until } from '../../contract/waiting.ts';
import { providerOf, standInCloud } from '../../providers/lab-cloud/cloud-bed.ts';

/** A cluster whose head is an instance of a cloud, as the laptop knows it. */
async function bed(t: TestContext) {
  const cloud = await standInCloud(t);
  const provider = providerOf(cloud);
  const request = { token: 'head', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;
  const [head] = await provider.launch(request, never);
  const home = mkdtempSync(join(tmpdir(), 'manta-ended-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'bed');
  const text = `
cluster_name: bed
provider: {type: lab_cloud, endpoint: "${cloud.endpoint}"}
head_node_type: worker
available_node_types: {worker: {node_config: {machine_type: small}}}
`;
  const instance = head!.id;
  createCluster(folder, {
    createdAt: 0,
    engine: 'ray',
    config: { path: 'bed.yaml', text, env: {} },
    remote: { address: '10.0.0.1', instance, clusterId: 'c-1', launchToken: 'head' },
  });
  const ask = () => endedInCloud(folder, { LAB_CLOUD_TOKEN: cloud.token }, never);
  const end = async (): Promise<void> => {
    await provider.terminate([instance], never);
    await until('it has ended', async () => (await provider.list(never)).length === 0);
  };
  return { provider, instance, folder, ask, end };
}

test('the last word of a head that is gone is found, and kept', async (t) => {
  const { provider, instance, folder, ask, end } = await bed(t);
  assert.equal(await ask(), undefined, 'it is there');
  await provider.tag(instance, endedTags.of(86_400_000, 'nothing ran for 30m (idle_shutdown)'), never);
  await end();
  const ended = { at: 86_400_000, why: 'nothing ran for 30m (idle_shutdown)', left: [], headGone: true };
  assert.deepEqual(await ask(), ended);
  assert.deepEqual(readCluster(folder)?.ended, ended);
});

test('of a head that went without a word, the cloud is quoted', async (t) => {
  const { instance, ask, end } = await bed(t);
  await end();
  const ended = await ask();
  assert.match(ended?.why ?? '', new RegExp(`its head, instance ${instance}, was found to be gone \\(.+\\)`));
});
