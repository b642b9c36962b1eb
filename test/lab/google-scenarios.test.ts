// needs: openssl, google-discovery, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProject } from '../../lab/google/open.ts';
import { needs, startRay } from './cloud-cluster-bed.ts';
import { clusterProblem, eventually, leftOn } from './cluster-bed.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';

const account = 'serviceAccounts: [{email: default, scopes: [https://www.googleapis.com/auth/cloud-platform]}]';

/** Machines that have no external address, and leases that are short. */
const bay = (bastion: string): string => `
cluster_name: bay
max_workers: 1
provider:
  type: gcp
  region: us-central1
  availability_zone: us-central1-a
  project_id: null
  use_internal_ips: true
  manta: {lease: 10s}
auth:
  ssh_user: ubuntu
  ssh_proxy_command: ssh -o StrictHostKeyChecking=accept-new -W %h:%p root@${bastion}
head_node_type: head
available_node_types:
  head: {node_config: {machineType: n1-standard-2}, resources: {CPU: 0}}
  worker:
    node_config:
      machineType: n1-standard-2
      scheduling: [{preemptible: true}]
      ${account}
      metadata: {items: [{key: startup-script, value: 'echo "own \${BASH_VERSION:+bash}" >> /root/boots'}]}
    resources: {CPU: 1}
    min_workers: 1
    max_workers: 1
${startRay}`;

/** Zones and markets to try in turn, and idle machines that are stopped. */
const delta = `
cluster_name: delta
max_workers: 1
provider:
  type: gcp
  region: us-west1
  availability_zone: us-west1-a,us-west1-b
  project_id: null
  cache_stopped_nodes: true
  manta:
    node_types:
      worker: {market: [spot, on-demand]}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head: {node_config: {machineType: n1-standard-2}, resources: {CPU: 0}}
  worker:
    node_config: {machineType: n1-standard-2}
    resources: {CPU: 1}
    max_workers: 1
    idle_timeout_s: 2
${startRay}`;

/** Where nobody gets in but by OS Login, whatever the file says of users. */
const cove = `
cluster_name: cove
max_workers: 1
provider: {type: gcp, region: us-west1, availability_zone: us-west1-a, project_id: null}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head: {node_config: {machineType: n1-standard-2}, resources: {CPU: 0}}
  worker: {node_config: {machineType: n1-standard-2}, resources: {CPU: 1}, min_workers: 0, max_workers: 1}
${startRay}`;

const oneCpu = needs('{"num_cpus": 1}');

describe('clusters on Google Cloud when things go wrong', { skip: clusterProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    all = await GoogleClusterBed.open({ hosts: 1 });
    all.bed.write('bay.yaml', bay(all.bed.head.address));
  });
  after(() => all?.close());

  const worker = () => all.ofKind('bay', 'worker').find(({ now }) => now.state === 'running');

  it('a head whose first zone has no capacity is launched in the next one', async () => {
    all.bed.write('delta.yaml', delta);
    await all.google.admin.set({ capacity: [{ zone: 'us-west1-a', limit: 0 }] });
    await all.manta('up', '-y', 'delta.yaml');
    assert.deepEqual(
      all.existing('delta').map(({ zone }) => zone),
      ['us-west1-b'],
    );
  });

  it('a worker goes from zone to zone, and then from spot to on-demand', async () => {
    const nowhere = { zone: 'us-west1-a', limit: 0 };
    await all.google.admin.set({ capacity: [nowhere, { market: 'spot', limit: 0 }] });
    assert.match(await all.job('delta', oneCpu), /^RAN ON h\d+$/m);
    const [made] = all.ofKind('delta', 'worker');
    assert.deepEqual([made?.zone, made?.market], ['us-west1-b', 'on-demand']);
    await all.google.admin.calm();
  });

  it('a worker that was stopped while it was idle is started again, and goes with the cluster', async () => {
    const [made] = all.ofKind('delta', 'worker');
    await eventually('the idle worker is stopped', () => made!.now.state === 'stopped');
    assert.match(await all.manta('status', 'delta.yaml'), /1 stopped machine of worker/);
    const since = await all.lastCall();
    assert.match(await all.job('delta', oneCpu), /^RAN ON h\d+$/m);
    assert.deepEqual(await all.launches(since), [], 'no other machine was asked for');
    assert.match(await all.manta('down', '-y', 'delta.yaml'), /nothing is left/);
    await all.assertNothingLeft('delta');
  });

  it('a cluster without external addresses comes up through a bastion', async () => {
    await all.manta('up', '-y', 'bay.yaml');
    assert.deepEqual(
      all.existing('bay').map(({ now }) => now.outside),
      [undefined, undefined],
    );
    assert.match(await all.manta('exec', 'bay.yaml', 'hostname'), /^h\d+$/m);
    assert.match(await all.job('bay', oneCpu), /^RAN ON h\d+$/m);
    assert.equal(await all.host(worker()).must('cat /root/boots', { user: 'root' }), 'own bash\n');
  });

  it('a worker that is told of its preemption is drained, given back and replaced', async () => {
    const told = worker()!;
    await all.google.admin.preempt(told.id, 600);
    await eventually('it is given back', () => !told.exists);
    assert.equal(told.now.cause, 'order', 'before Google took it');
    assert.match(await all.job('bay', oneCpu), /^RAN ON h\d+$/m);
  });

  it('a head whose machine is lost is told of and made again, and its workers delete themselves by their lease', async () => {
    const [[head], last] = [all.ofKind('bay', 'head'), worker()!];
    all.google.cloud.terminate(labProject, [head!.id]);
    const { code, stdout, stderr } = await all.run('status', 'bay.yaml');
    assert.equal(code, 4, stdout + stderr);
    assert.match(stdout + stderr, new RegExp(`lost its head and its queue at .*${head!.name}, is gone`));
    await eventually('its worker is gone', () => !last.exists);
    assert.equal(last.now.cause, 'order', 'it did not only switch itself off');
    await all.manta('up', '-y', 'bay.yaml');
    assert.notEqual(all.ofKind('bay', 'head')[0]?.id, head!.id);
    assert.match(await all.job('bay', oneCpu), /^RAN ON h\d+$/m);
    assert.match(await all.manta('down', '-y', 'bay.yaml'), /nothing is left/);
    await all.assertNothingLeft('bay');
    assert.deepEqual(
      (await leftOn(all.bed, all.bed.laptop, 'bay')).filter((line) => line.includes('bay')),
      [],
    );
  });

  it('a cluster where OS Login is required comes up as the user that Google names, and leaves no key there', async () => {
    const { project, world, credentials } = all.google;
    project.policies.set('compute.requireOsLogin', []);
    all.bed.write('cove.yaml', cove);
    await all.manta('up', '-y', 'cove.yaml');
    const login = world.osLogin.get(credentials.client_email)!;
    assert.equal((await all.manta('exec', 'cove.yaml', 'id -un')).trim(), login.user);
    assert.match(await all.job('cove', oneCpu), /^RAN ON h\d+$/m);
    assert.equal(login.keys.size, 2, 'that of the laptop and that of the head');
    assert.match(await all.manta('down', '-y', 'cove.yaml'), /nothing is left/);
    await all.assertNothingLeft('cove');
    assert.deepEqual([...login.keys], []);
    project.policies.delete('compute.requireOsLogin');
  });
});
