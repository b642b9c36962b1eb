import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { main } from '../../src/cli/main.ts';
import { ensureCloudHead } from '../../src/launcher/head/cloud-head.ts';
import { prepareCloud } from '../../src/launcher/up/prepare-cloud.ts';
import { readCluster } from '../../src/state/cluster-record.ts';
import { clusterNames } from '../../src/state/state-folder.ts';
import { never } from '../contract/waiting.ts';
import { cloudBed, withPreparation } from '../launcher/cloud-bed.ts';
import { screen } from './screen.ts';

async function bed(t: TestContext) {
  const cloud = await cloudBed(t);
  const manta = async (words: readonly string[], home = cloud.home) => {
    const on = screen({ env: { MANTA_HOME: home, ...cloud.env } });
    const exit = await main(words, on);
    return { exit, ...on.shown };
  };
  return { ...cloud, manta };
}

test('up --plan of a cluster that is not there shows steps, machines, prices and warnings, and makes nothing', async (t) => {
  withPreparation(t);
  const { manta, fileOf, existing, home } = await bed(t);
  const file = fileOf();
  const { exit, stdout, stderr } = await manta(['up', '--plan', file]);
  assert.equal(exit, 0, stderr);
  assert.match(
    stdout,
    /^New cluster 'bed' on lab_cloud: an instance of head for the head, and 0 workers to start with\.$/m,
  );
  assert.match(stdout, /^ {2}head {5}head \(small\), on-demand, \$[\d.]+ an hour$/m);
  assert.match(stdout, /^ {2}create {3}security group: opens port 22 to 192\.0\.2\.7$/m);
  assert.match(stdout, /^ {2}found {4}key pair k-1$/m);
  assert.match(stdout, /^ {2}warning {2}the role may not launch spot instances$/m);
  const { plan } = JSON.parse((await manta(['--json', 'up', '--plan', file])).stdout) as {
    plan: { cloud: { head: { action: string }; steps: unknown[] } };
  };
  assert.deepEqual([plan.cloud.head.action, plan.cloud.steps.length], ['launch', 2]);
  assert.deepEqual([existing(), clusterNames(home)], [[], []]);
});

test('up asks before the first machine is launched, and shows the plan where nobody can answer', async (t) => {
  const world = withPreparation(t);
  const { manta, fileOf, existing } = await bed(t);
  const { exit, stderr } = await manta(['up', fileOf()]);
  assert.equal(exit, 2);
  assert.match(stderr, /nothing was done to 'bed' [^]*create {3}security group/);
  assert.deepEqual([existing(), world.prepared], [[], []]);
});

test('down names what should have gone and ends with 1, until the next one completes it', async (t) => {
  const world = withPreparation(t);
  const { manta, fileOf, requestFor, existing, home } = await bed(t);
  const request = requestFor();
  await prepareCloud(request, never);
  world.remains = [
    { kind: 'security group', id: 'g-1', detail: 'DependencyViolation' },
    { kind: 'disk', id: 'd-1', keeps: 'by the file', cost: 8 },
    { kind: 'key pair', id: 'k-1', keeps: 'shared' },
  ];
  const file = fileOf();
  const first = await manta(['down', '-y', file]);
  assert.equal(first.exit, 1, first.stderr);
  assert.match(first.stdout, /should be gone[^]*security group g-1: could not be deleted: DependencyViolation/);
  assert.match(first.stdout, /disk d-1: kept, because the file says so, \$8\.00 a month/);
  assert.deepEqual(clusterNames(home), ['bed']);
  world.remains = world.remains.slice(1);
  const second = await manta(['--json', 'down', '-y', file]);
  assert.equal(second.exit, 0, second.stderr);
  assert.deepEqual((JSON.parse(second.stdout) as { remains: unknown }).remains, world.remains);
  assert.deepEqual([clusterNames(home), existing()], [[], []]);
});

test('down of a cluster that another machine started works by its file, and says so', async (t) => {
  const { manta, fileOf, requestFor, existing, newHome } = await bed(t);
  await ensureCloudHead(requestFor(), never);
  const [file, second] = [fileOf(), newHome()];
  const asked = await manta(['down', file], second);
  assert.equal(asked.exit, 2);
  assert.equal(existing().length, 1, 'nobody has agreed');
  // It waits for as long as lists lag behind what the head may have launched.
  const request = requestFor(undefined, second);
  const { adopt, downWithoutHead, findInCloud } = await import('../../src/launcher/down/cloud.ts');
  const found = await findInCloud(request, never);
  assert.ok(found);
  adopt(request, found);
  await downWithoutHead(request, { unseen: 60_000, forget: false }, never);
  assert.deepEqual([existing(), readCluster(request.folder)], [[], undefined]);
  const none = await manta(['down', '-y', file], newHome());
  assert.deepEqual([none.exit, none.stdout], [0, "No cluster 'bed' is known on this machine; nothing to do.\n"]);
});

test('cloud policy prints what the head and its user need, without a call to the cloud', async (t) => {
  withPreparation(t, { policies: ({ name }) => ({ head: `{"head of": "${name}"}\n`, user: '{"user": 1}' }) });
  const { manta, fileOf, admin } = await bed(t);
  const file = fileOf();
  const { exit, stdout } = await manta(['cloud', 'policy', file]);
  assert.equal(exit, 0);
  assert.equal(
    stdout,
    '# for the head\n{"head of": "bed"}\n\n# for those who run manta up and manta down\n{"user": 1}\n',
  );
  assert.deepEqual(JSON.parse((await manta(['--json', 'cloud', 'policy', file])).stdout), {
    file,
    provider: 'lab_cloud',
    head: '{"head of": "bed"}\n',
    user: '{"user": 1}',
  });
  assert.deepEqual(await admin.calls(), []);
});

test('cloud policy of a cloud without policies says so', async (t) => {
  const { manta, fileOf } = await bed(t);
  const { exit, stderr } = await manta(['cloud', 'policy', fileOf()]);
  assert.equal(exit, 2);
  assert.match(stderr, /runs on 'lab_cloud', which has no policies/);
});
