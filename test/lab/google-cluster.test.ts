// needs: openssl, google-discovery, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { needs, startRay } from './cloud-cluster-bed.ts';
import { clusterProblem, eventually, leftOn } from './cluster-bed.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';

const file = 'google.yaml';

const clusterFile = `
cluster_name: river
max_workers: 2
provider:
  type: gcp
  region: us-west1
  availability_zone: us-west1-a
  project_id: null
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config:
      machineType: n1-standard-2
      disks:
        - {boot: true, autoDelete: true, type: PERSISTENT, initializeParams: {diskSizeGb: 50, sourceImage: projects/deeplearning-platform-release/global/images/family/common-cpu}}
    resources: {CPU: 0}
  worker:
    node_config:
      machineType: n1-standard-2
      scheduling: [{preemptible: true}]
    resources: {CPU: 1}
    min_workers: 0
    max_workers: 2
    idle_timeout_s: 2
setup_commands: []
${startRay}`;

const oneCpu = needs('{"num_cpus": 1}');

/** Calls that change something; all others only look. */
const changes = /\.(insert|bulkInsert|create|delete|patch|set\w+|stop|start|importSshPublicKey)$/;

describe('a cluster on Google Cloud', { skip: clusterProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    all = await GoogleClusterBed.open();
    all.bed.write(file, clusterFile);
  });
  after(() => all?.close());

  it('shows its plan without one call that changes anything', async () => {
    const plan = await all.manta('up', '--plan', file);
    assert.match(plan, /n1-standard-2/);
    assert.match(plan, /service account/);
    const made = (await all.google.admin.calls()).map(({ operation = '' }) => operation);
    assert.ok(made.length > 0);
    assert.deepEqual(
      made.filter((operation) => changes.test(operation)),
      [],
    );
  });

  it('is one machine after up, whose head needs no credentials but those of its machine', async () => {
    await all.manta('up', '-y', file);
    const [head, ...others] = all.existing('river');
    assert.deepEqual(others, []);
    assert.equal(head?.now.tags['ray-node-type'], 'head');
    const copied = await all
      .host(head)
      .must(`grep -rls ${all.google.credentials.private_key_id} /home/ubuntu /root /etc || true`);
    assert.equal(copied, '', 'no key of the laptop is on the head');
    await all.manta('up', '-y', file);
    assert.equal(all.existing('river').length, 1, 'up again makes nothing');
  });

  it('gets a spot machine for work that needs one, asked for once, and gives it back', async () => {
    assert.match(await all.job('river', oneCpu), /^RAN ON h\d+$/m);
    assert.deepEqual(await all.launches(), [
      'n1-standard-2 on-demand us-west1-a given',
      'n1-standard-2 spot us-west1-a given',
    ]);
    await eventually('the worker is given back', () => all.existing('river').length === 1);
  });

  it('takes everything along when it goes down', async () => {
    all.bed.write('jobs/job.py', oneCpu);
    await all.manta('job', 'submit', '-n', 'river', '--no-wait', '--working-dir', 'jobs', '--', 'python', 'job.py');
    await eventually('a worker is asked for', () => all.existing('river').length === 2);
    assert.match(await all.manta('down', '-y', file), /nothing is left/);
    await all.assertNothingLeft('river');
    assert.deepEqual(await leftOn(all.bed, all.bed.laptop, 'river'), []);
  });
});
