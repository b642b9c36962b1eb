import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/base/time/clock.ts';
import { rayTags } from '../../src/core/ray-tags.ts';
import type { CloudRequest } from '../../src/launcher/head/cloud-client.ts';
import { endCloudInstances, ensureCloudHead } from '../../src/launcher/head/cloud-head.ts';
import { readLaptopRecord } from '../../src/state/cluster-record.ts';
import { readConfig } from '../../src/state/load-spec.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { never, until } from '../contract/waiting.ts';
import { standInCloud } from '../providers/lab-cloud/cloud-bed.ts';

const haste = 200;
const fastClock: Clock = {
  now: () => 1e12 + haste * performance.now(),
  sleep: (duration, signal) => sleep(duration / haste, undefined, signal && { signal }),
};

async function bed(t: TestContext) {
  const served = await standInCloud(t);
  const home = mkdtempSync(join(tmpdir(), 'manta-head-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const text = `
cluster_name: bed
provider: {type: lab_cloud, endpoint: "${served.endpoint}"}
head_node_type: head
available_node_types: {head: {node_config: {machine_type: small}}}
`;
  const told: string[] = [];
  const request: CloudRequest = {
    folder: stateFolder(home, 'bed'),
    file: readConfig({ path: 'bed.yaml', text, env: {} }),
    env: { LAB_CLOUD_TOKEN: served.token },
    clock: fastClock,
    events: { emit: ({ code }) => void told.push(code) },
  };
  const { cloud } = served;
  const up = () => ensureCloudHead(request, never);
  const existing = () =>
    cloud
      .truth()
      .filter(({ exists }) => exists)
      .map(({ id }) => id);
  const account = () => cloud.truth()[0]!.account;
  return { cloud, up, existing, account, told, request };
}

test('a head that a stale list leaves out is waited for, and no second one is made', async (t) => {
  const { cloud, up, existing, told } = await bed(t);
  const { id } = await up();
  cloud.faults.add({ fault: 'stale-list', seconds: 3600, times: 5 });
  assert.equal((await up()).id, id);
  assert.deepEqual(existing(), [id]);
  assert.equal(told.filter((code) => code === 'MANTA_LAUNCHER_HEAD_UNLISTED').length, 1);
});

test('a head whose launch is throttled, or not answered, is asked for again, and is one head', async (t) => {
  const { cloud, up, existing } = await bed(t);
  cloud.faults.add({ fault: 'throttle', call: 'launch', times: 2 });
  cloud.faults.add({ fault: 'lost-answer', call: 'launch', times: 1 });
  const { id } = await up();
  assert.deepEqual(existing(), [id]);
});

test('a head that has ended, or that the cloud does not know any more, is replaced by one', async (t) => {
  const { cloud, up, existing, account } = await bed(t);
  const first = await up();
  cloud.terminate(account(), [first.id]);
  await until('it has ended', async () => existing().length === 0);
  const second = await up();
  assert.deepEqual(existing(), [second.id]);
  cloud.vanish(second.id);
  const third = await up();
  assert.deepEqual(existing(), [third.id]);
});

test('a head that ended before anybody saw it is asked for anew', async (t) => {
  const { cloud, up, existing, account, request } = await bed(t);
  cloud.faults.add({ fault: 'hang-boot', times: 1 });
  const cut = new AbortController();
  const begun = ensureCloudHead(request, cut.signal);
  await until('it was asked for', async () => existing().length === 1);
  cut.abort();
  await assert.rejects(begun);
  cloud.terminate(account(), existing());
  await until('it has ended', async () => existing().length === 0);
  assert.equal(readLaptopRecord(request.folder)?.remote.instance, undefined);
  const { id } = await up();
  assert.deepEqual(existing(), [id]);
});

test('a head that is one too many is told of, and the known one is kept', async (t) => {
  const { cloud, up, account, told } = await bed(t);
  const { id, tags } = await up();
  cloud.launch(account(), { machine_type: 'small', tags: { ...tags } });
  assert.equal((await up()).id, id);
  assert.ok(told.includes('MANTA_LAUNCHER_OTHER_HEAD'));
});

test('a head that somebody has stopped is neither replaced nor waited for without an end', async (t) => {
  const { cloud, up, existing, account } = await bed(t);
  const { id } = await up();
  cloud.stop(account(), id);
  await assert.rejects(up(), /MANTA_LAUNCHER_HEAD_NOT_LISTED|neither running nor terminated/);
  assert.deepEqual(existing(), [id]);
});

test('machines that lists show late are ended too, where somebody launched them just before', async (t) => {
  const { cloud, up, existing, account, request } = await bed(t);
  const { tags } = await up();
  cloud.settings = { ...cloud.settings, list_lag_s: 0.15 };
  cloud.launch(account(), { machine_type: 'small', tags: { ...tags, [rayTags.kind]: 'worker' } });
  const { left } = await endCloudInstances(request, 'workers', { unseen: 60_000 }, never);
  assert.deepEqual(left, []);
  assert.equal(existing().length, 1, 'the head');
});

test('a clock that is wrong keeps nobody waiting for longer than lists lag', async (t) => {
  const { up, existing, request } = await bed(t);
  await up();
  let slept = 0;
  const counted: Clock = {
    ...fastClock,
    sleep: async (duration, signal) => {
      await fastClock.sleep(duration, signal);
      slept += duration;
      assert.ok(slept < 600_000, 'it waits for ever');
    },
  };
  const unseen = 100 * 24 * 3_600_000;
  const { left } = await endCloudInstances({ ...request, clock: counted }, 'all', { unseen }, never);
  assert.deepEqual(left, []);
  assert.deepEqual(existing(), []);
});
