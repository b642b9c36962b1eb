// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labProject } from '../../../lab/google/open.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { regionOfZone } from '../../../src/providers/google/client/links.ts';
import { placeOf } from '../../../src/providers/google/list/listing.ts';
import { hostPlace } from '../../../src/providers/google/tpu/node.ts';
import type { LaunchRequest } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, clusterText, providerOf, specOf, standInGoogle, tpuZone } from './google-bed.ts';

const slices = (token: string, more: Partial<LaunchRequest> = {}): LaunchRequest =>
  ask(token, { type: 'slice', zone: tpuZone, slice: { hosts: 2 }, ...more });
const queued = clusterText({ provider: ['manta: {node_types: {slice: {queued: true, market: spot}}}'] });

test('the hosts of a slice have what Ray gives them, and addresses of their own', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  const made = await provider.launch(slices('one'), never);
  const name = made[0]!.id.split('/')[1]!;
  const running = await until('both run', async () => {
    const found = await provider.list(never);
    return found.length === 2 && found.every(({ state }) => state === 'running') && found;
  });
  assert.deepEqual(
    running.map(({ slice }) => slice?.resources),
    [{ [name]: 1, 'TPU-v4-16-head': 1 }, { [name]: 1 }],
  );
  assert.equal(new Set(running.map(({ address }) => address?.inside)).size, 2);
  assert.equal(new Set(running.map(({ address }) => address?.outside)).size, 2);
});

test('one host is the end of its slice, which is deleted once', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  const made = await provider.launch(slices('two', { count: 2 }), never);
  const [first] = made;
  const ofFirst = made.filter(({ slice }) => slice?.id === first?.slice?.id).map(({ id }) => id);
  await provider.terminate(ofFirst, never);
  await until('it is gone', async () => (await provider.list(never)).length === 2);
  const deletes = (await google.admin.calls()).filter(({ operation }) => operation === 'nodes.delete');
  assert.equal(deletes.length, 1);
  assert.equal((await provider.lastKnown(first!.id, never))?.ended, true);
  assert.deepEqual(await provider.launch(slices('two', { count: 1 }), never).then((again) => again.length), 2);
});

test('ids tell zones of every kind, and nothing else passes for one', () => {
  for (const at of ['us-central1-a', 'northamerica-northeast1-b', 'us-central1-ai1a']) {
    assert.deepEqual(placeOf(`${at}/one`), { zone: at, name: 'one' });
    assert.deepEqual(hostPlace(`${at}/one/3`), { zone: at, node: 'one', index: 3 });
    assert.equal(regionOfZone(at), at.split('-').slice(0, 2).join('-'));
  }
  for (const other of ['one', 'a/b', 'us-central1/one', 'us-central1-a/One'])
    assert.deepEqual([placeOf(other), hostPlace(`${other}/0`)], [undefined, undefined], other);
});

test('a slice that was preempted is stopped until it is deleted', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  const made = await provider.launch(slices('spot', { market: 'spot' }), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  await google.admin.preempt(google.idOf(`${made[0]!.id.split('/')[1]}/0`));
  await until('all of it is stopped', async () =>
    (await provider.list(never)).every(({ state }) => state === 'stopped'),
  );
  await provider.terminate([made[1]!.id], never);
  await until('it is gone', async () => (await provider.list(never)).length === 0);
});

test('a slice that is under repair for five minutes is lost', async (t) => {
  const google = await standInGoogle(t);
  const start = Date.now();
  const clock = { later: 0, now: () => start + clock.later, sleep: () => Promise.resolve() };
  const provider = providerOf(google, { clock });
  await provider.launch(slices('repair'), never);
  for (const slice of google.world.tpu.slices.values()) slice.forced = 'REPAIRING';
  const states = async (): Promise<string[]> => (await provider.list(never)).map(({ state }) => state);
  assert.deepEqual(await states(), ['running', 'running']);
  clock.later = 4 * 60_000;
  assert.deepEqual(await states(), ['running', 'running']);
  clock.later = 6 * 60_000;
  assert.deepEqual(await states(), ['stopped', 'stopped']);
});

test('a queued slice is pending until there is room, and its request goes with it', async (t) => {
  const google = await standInGoogle(t, { settings: { capacity: [{ limit: 0 }] } });
  const provider = providerOf(google, { text: queued });
  const made = await provider.launch(slices('waits', { market: 'spot' }), never);
  assert.deepEqual(
    made.map(({ state }) => state),
    ['pending', 'pending'],
  );
  assert.deepEqual(
    (await provider.list(never)).map(({ id, state, market }) => [id, state, market]),
    made.map(({ id }) => [id, 'pending', 'spot']),
  );
  await google.admin.set({ capacity: [] });
  await until('it runs', async () => (await provider.list(never)).every(({ state }) => state === 'running'));
  await provider.terminate([made[0]!.id], never);
  await until('it is gone', async () => (await provider.list(never)).length === 0);
  assert.deepEqual(google.world.tpu.queue.all(), []);
});

test('a slice that the file wants of a reservation comes out of it, and waits where it is used up', async (t) => {
  const google = await standInGoogle(t);
  google.world.addReservation({ id: 'ours', account: labProject, type: 'v4-16', zone: tpuZone, total: 2 });
  const text = clusterText({ slice: ['schedulingConfig: {reserved: true}'] });
  const { offers } = specOf(text).nodeTypes.find(({ name }) => name === 'slice')!;
  assert.deepEqual(
    offers.map(({ market }) => market),
    ['reserved'],
  );
  const provider = providerOf(google, { text });
  const marketsOf = async (): Promise<unknown> =>
    (await provider.list(never)).map(({ market, state }) => `${market} ${state}`).sort();
  await provider.launch(slices('one', { market: 'reserved' }), never);
  await until('it runs', async () => (await provider.list(never)).every(({ state }) => state === 'running'));
  await provider.launch(slices('two', { market: 'reserved' }), never);
  assert.deepEqual(await marketsOf(), ['reserved pending', 'reserved pending', 'reserved running', 'reserved running']);
});

test('a queued slice that still waits can be given up', async (t) => {
  const google = await standInGoogle(t, { settings: { capacity: [{ limit: 0 }] } });
  const provider = providerOf(google, { text: queued });
  const made = await provider.launch(slices('waits', { market: 'spot' }), never);
  await provider.terminate(
    made.map(({ id }) => id),
    never,
  );
  await until('nothing waits', async () => (await provider.list(never)).length === 0);
  assert.deepEqual(google.world.tpu.queue.all(), []);
});

test('a quota of TPUs closes their zone', async (t) => {
  const google = await standInGoogle(t);
  google.project.quotas.push({ metric: 'TPUV4sPerProjectPerZoneForTPUAPI', limit: 8, zone: tpuZone });
  const provider = providerOf(google);
  await provider.launch(slices('fits'), never);
  await assert.rejects(
    provider.launch(slices('beyond'), never),
    (error) => providerErrors.Quota.is(error) && error.data.closes === 'zone',
  );
});

test('a list of slices that misses a zone is no list', async (t) => {
  const google = await standInGoogle(t);
  google.cloud.faults.add({ fault: 'unreachable', call: 'nodes.list', zone: 'us-east1-d', times: 1 });
  await assert.rejects(providerOf(google).list(never), { code: providerErrors.Unreachable.code });
});

test('nodes that somebody made for the cluster are shown and left alone, and find its head by their labels', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  await provider.launch(ask('h', { type: 'head', tags: { 'ray-node-type': 'head' } }), never);
  await provider.launch(slices('own'), never);
  const [own] = google.world.tpu.slices.values();
  google.world.tpu.make([{ ...own!, id: 'by-hand', body: { ...own!.body, labels: { 'ray-cluster-name': 'bed' } } }]);
  assert.equal((await provider.list(never)).filter(({ slice }) => slice?.id.endsWith('by-hand')).length, 0);
  const [kept, ...others] = (await provider.remains(never)).filter(({ kind }) => kind === 'TPU node');
  assert.deepEqual([kept?.id, kept?.keeps, others], [`${tpuZone}/by-hand`, 'made by hand', []]);
  const heads = google.cloud
    .existing()
    .filter(({ now }) => now.tags['ray-cluster-name'] === 'bed' && now.tags['ray-node-type'] === 'head');
  assert.equal(heads.length, 1);
});

test('a queued slice whose request has failed is deleted, and another is asked for under the next token', async (t) => {
  const google = await standInGoogle(t, { settings: { capacity: [{ limit: 0 }] } });
  const provider = providerOf(google, { text: queued });
  await provider.launch(slices('fails', { market: 'spot' }), never);
  for (const each of google.world.tpu.queue.all()) each.state = 'FAILED';
  const over = await provider.list(never);
  assert.deepEqual(
    over.map(({ state }) => state),
    ['stopped', 'stopped'],
  );
  await provider.terminate([over[0]!.id], never);
  await until('it is gone', async () => (await provider.list(never)).length === 0);
  const forced = (await google.admin.calls()).filter(({ operation }) => operation === 'queuedResources.delete');
  assert.equal(forced.length, 1);
  await google.admin.set({ capacity: [] });
  await provider.launch(slices('again', { market: 'spot' }), never);
  await until('it runs', async () => (await provider.list(never)).every(({ state }) => state === 'running'));
});
