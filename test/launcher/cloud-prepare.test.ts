import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { adopt, downWithoutHead, findInCloud } from '../../src/launcher/down/cloud.ts';
import { ensureCloudHead } from '../../src/launcher/head/cloud-head.ts';
import { planCloud } from '../../src/launcher/up/cloud-plan.ts';
import { prepareCloud, readyCloud } from '../../src/launcher/up/prepare-cloud.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import { readCluster, readLaptopRecord } from '../../src/state/cluster-record.ts';
import { never } from '../contract/waiting.ts';
import { cloudBed, withPreparation, zoneA } from './cloud-bed.ts';

const changing = new Set(['launch', 'terminate', 'tag', 'stop', 'start', 'change']);
const atOnce = { unseen: 0, forget: false };

test('a plan names what is made, machines and prices, without one changing call and without a record', async (t) => {
  const world = withPreparation(t);
  const { admin, textOf, requestFor } = await cloudBed(t);
  const types =
    '{head: {node_config: {machine_type: small}}, work: {node_config: {machine_type: large, market: spot}, min_workers: 2, max_workers: 5}}';
  const request = requestFor(textOf(`, availability_zone: ${zoneA}`, types, 'max_workers: 5'));
  const plan = await planCloud(request, never);
  assert.deepEqual(
    plan.steps.map(({ what, action }) => [what, action]),
    [
      ['security group', 'create'],
      ['key pair', 'found'],
    ],
  );
  assert.deepEqual(plan.warnings, ['the role may not launch spot instances']);
  assert.deepEqual([plan.head.action, plan.head.offers[0]?.zone, plan.wanted], ['launch', zoneA, 2]);
  const [head, worker] = [plan.head.offers[0]?.pricePerHour, plan.workers[0]?.offer.pricePerHour];
  assert.ok(head !== undefined && worker !== undefined && head > 0);
  assert.equal(plan.pricePerHour, head + 2 * worker);
  assert.deepEqual(
    plan.workers.map(({ type, min, max, offer }) => [type, min, max, offer.market]),
    [['work', 2, 5, 'spot']],
  );
  assert.deepEqual(
    (await admin.calls()).filter(({ call }) => changing.has(call)),
    [],
  );
  assert.equal(world.prepared.length, 0);
  assert.equal(existsSync(request.folder.path), false);
});

test('a head on spot is warned of in the plan', async (t) => {
  const { textOf, requestFor } = await cloudBed(t);
  const plan = await planCloud(
    requestFor(textOf('', '{head: {node_config: {machine_type: small, market: spot}}}')),
    never,
  );
  assert.match(plan.warnings.join(), /the head \(head\) is a spot instance, as the file says/);
});

test('what was prepared is written down, and known to all who ask the cloud after that', async (t) => {
  const world = withPreparation(t);
  const { requestFor } = await cloudBed(t);
  const request = requestFor();
  await prepareCloud(request, never);
  const { remote } = readLaptopRecord(request.folder) ?? {};
  assert.deepEqual(world.prepared, [remote?.clusterId]);
  assert.deepEqual(remote?.prepared, { group: 'g-1', times: 1 });
  await ensureCloudHead(request, never);
  assert.deepEqual(world.seen.at(-1), { group: 'g-1', times: 1 });
  await prepareCloud(request, never);
  assert.deepEqual(readLaptopRecord(request.folder)?.remote.prepared, { group: 'g-1', times: 2 });
  assert.equal(new Set(world.prepared).size, 1, 'it is the same cluster');
});

test('what was planned is made under the id that the plan has shown, and --plan alone writes none down', async (t) => {
  const world = withPreparation(t);
  const { requestFor, existing } = await cloudBed(t);
  const request = requestFor();
  const planned = [await planCloud(request, never), await planCloud(request, never)] as const;
  assert.notEqual(planned[0].clusterId, planned[1].clusterId);
  assert.equal(existsSync(request.folder.path), false);
  await readyCloud(request, planned[0], () => assert.fail('there is no old head'), never);
  const ids = [world.planned[0]?.clusterId, ...world.prepared, readLaptopRecord(request.folder)?.remote.clusterId];
  assert.deepEqual(new Set(ids), new Set([planned[0].clusterId]));
  assert.equal((await planCloud(request, never)).clusterId, planned[0].clusterId);
  assert.equal(existing().length, 1);
});

test('credentials that cannot be handed to a head are refused before anything is made', async (t) => {
  const { requestFor, existing } = await cloudBed(t);
  withPreparation(t, {
    headIdentity: () => {
      throw providerErrors.Denied({ call: 'sign in', detail: 'the login expires in 12 minutes' });
    },
  });
  await assert.rejects(planCloud(requestFor(), never), /expires in 12 minutes/);
  assert.deepEqual(existing(), []);
});

test('another configuration of the head replaces it, and nothing else does', async (t) => {
  const { textOf, requestFor } = await cloudBed(t);
  const request = requestFor();
  const { id } = await ensureCloudHead(request, never);
  assert.deepEqual((await planCloud(request, never)).head.action, 'keep');
  const setup = requestFor(textOf('', undefined, 'setup_commands: [date]'));
  assert.equal((await planCloud(setup, never)).head.action, 'keep');
  const larger = await planCloud(requestFor(textOf('', '{head: {node_config: {machine_type: large}}}')), never);
  assert.deepEqual([larger.head.action, larger.head.instance], ['replace', id]);
});

test('a file that names another place than the cluster runs in is refused', async (t) => {
  const { requestFor, textOf, existing } = await cloudBed(t);
  const { id } = await ensureCloudHead(requestFor(), never);
  const moved = requestFor(textOf(', region: elsewhere'));
  await assert.rejects(planCloud(moved, never), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'MANTA_LAUNCHER_HEAD_MOVED');
    assert.match(error.message, /but the file now says lab_cloud elsewhere/);
    return true;
  });
  assert.deepEqual(existing(), [id]);
});

test('down releases what was made after the last instance, and keeps the record until all of it is gone', async (t) => {
  const world = withPreparation(t);
  const { requestFor, existing } = await cloudBed(t);
  const request = requestFor();
  await prepareCloud(request, never);
  await ensureCloudHead(request, never);
  world.remains = [
    { kind: 'security group', id: 'g-1', detail: 'DependencyViolation' },
    { kind: 'disk', id: 'd-1', keeps: 'by the file', cost: 8 },
  ];
  const first = await downWithoutHead(request, atOnce, never);
  assert.deepEqual([existing(), world.released, first.left], [[], 1, []]);
  assert.deepEqual(first.remains, world.remains);
  const kept = readCluster(request.folder);
  assert.ok(kept?.role === 'laptop' && kept.endingSince !== undefined && kept.remote.instance === undefined);
  world.remains = world.remains.slice(1);
  await downWithoutHead(request, atOnce, never);
  assert.equal(world.released, 2);
  assert.equal(readCluster(request.folder), undefined, 'what the file keeps keeps no record');
});

test('a machine that has the file alone finds the cluster by its name', async (t) => {
  const { requestFor, existing, newHome } = await cloudBed(t);
  const { id } = await ensureCloudHead(requestFor(), never);
  const other = requestFor(undefined, newHome());
  const found = await findInCloud(other, never);
  assert.deepEqual(found?.instances, [id]);
  adopt(other, found);
  await downWithoutHead(other, atOnce, never);
  assert.deepEqual(existing(), []);
  assert.equal(await findInCloud(other, never), undefined);
});

test('of two clusters of one name none is ended from a machine that started neither', async (t) => {
  const { requestFor, existing, newHome } = await cloudBed(t);
  const heads: string[] = [];
  for (const home of [newHome(), newHome()]) heads.push((await ensureCloudHead(requestFor(undefined, home), never)).id);
  await assert.rejects(findInCloud(requestFor(), never), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'MANTA_LAUNCHER_SEVERAL_CLUSTERS');
    for (const id of heads) assert.match(error.message, new RegExp(id));
    return true;
  });
  assert.deepEqual(existing().toSorted(), heads.toSorted());
});
