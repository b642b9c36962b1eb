import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endedInCloud } from '../../src/client/cloud-ended.ts';
import {
  changeCluster,
  createCluster,
  readCluster,
  readLaptopRecord,
  withRemoteHead,
} from '../../src/state/cluster-record.ts';
import { turnedOff } from '../../src/state/ended.ts';
import { endedTags } from '../../src/state/ended-tags.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { never, until } from '../contract/waiting.ts';
import { providerOf, standInCloud } from '../providers/lab-cloud/cloud-bed.ts';

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
    role: 'laptop',
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
  const word = { at: 86_400_000, why: 'nothing ran for 30m (idle_shutdown)', left: [] };
  await provider.tag(instance, endedTags.of(word), never);
  await end();
  const ended = { ...word, headGone: true };
  assert.deepEqual(await ask(), ended);
  assert.deepEqual(readCluster(folder)?.ended, ended);
});

test('of a head that went without a word, the cloud is quoted, and nobody says that the cluster turned itself off', async (t) => {
  const { provider, instance, folder, ask } = await bed(t);
  const request = { token: 'two', type: 'worker', count: 2, market: 'on-demand', tags: {} } as const;
  await provider.launch(request, never);
  await provider.terminate([instance], never);
  await until('it has ended', async () => (await provider.list(never)).length === 2);
  const ended = await ask();
  assert.match(ended?.why ?? '', new RegExp(`its head, instance ${instance}, is gone \\(.+\\)`));
  const told = turnedOff('bed', readCluster(folder)!.ended!);
  assert.match(told.message, /lost its head and its queue at \d{4}-.*; workers still listed at that time: 2$/);
});

test('what could not be ended before the head went is told, as far as a tag has room for its names', () => {
  const left = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ host: `10.0.0.${100 + index}`, why: 'denied' }));
  const names = (count: number) => {
    const tags = endedTags.of({ at: 0, why: 'idle', left: left(count) });
    assert.ok(Object.values(tags).every((tag) => tag.length <= 250));
    return endedTags.read(tags)?.left.map(({ host }) => host);
  };
  assert.deepEqual(names(0), []);
  assert.deepEqual(names(2), ['10.0.0.100', '10.0.0.101']);
  const many = names(100) ?? [];
  assert.equal(many.at(-1), `${100 - (many.length - 1)} more`);
  const word = { at: 0, left: endedTags.read(endedTags.of({ at: 0, why: 'idle', left: left(1) }))!.left };
  assert.match(
    turnedOff('bed', { ...word, why: 'idle' }).message,
    /idle; 10.0.0.100 was not cleaned up: it could not be terminated/,
  );
});

test('a young head that the cloud does not know yet is not taken for gone', async (t) => {
  const { folder, ask } = await bed(t);
  const unknown = (askedAt: number) =>
    changeCluster(folder, (record) =>
      withRemoteHead(record, { ...readLaptopRecord(folder)?.remote, instance: 'i-none', askedAt }),
    );
  unknown(Date.now());
  assert.equal(await ask(), undefined);
  unknown(Date.now() - 3_600_000);
  assert.match((await ask())?.why ?? '', /i-none, is gone/);
});
