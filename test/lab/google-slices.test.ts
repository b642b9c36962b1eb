// needs: openssl, google-discovery, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startRay } from './cloud-cluster-bed.ts';
import { clusterProblem, eventually } from './cluster-bed.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';

const file = 'slices.yaml';

const clusterFile = `
cluster_name: reef
max_workers: 1
provider:
  type: gcp
  region: us-central2
  availability_zone: us-central2-b
  project_id: null
  manta: {lease: 20s}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config: {machineType: n1-standard-2}
    resources: {CPU: 0}
  slice:
    node_config:
      acceleratorType: v4-16
      runtimeVersion: tpu-ubuntu2204-base
      schedulingConfig: {preemptible: true}
    resources: {CPU: 1, TPU: 4}
    min_workers: 0
    max_workers: 1
    idle_timeout_s: 600
setup_commands: ['echo "$TPU_NAME $TPU_WORKER_ID $TPU_ACCELERATOR_TYPE" > set-up']
${startRay}`;

/** As users of slices do it: the first host by the type of the slice, then all of its hosts by its name. */
const onEveryHost = `
import json, os, ray, socket
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=0, resources={"TPU-v4-16-head": 1})
def name():
    return os.environ["TPU_NAME"]
slice = ray.get(name.remote())
group = placement_group([{"TPU": 4, slice: 1}] * 2, strategy="STRICT_SPREAD")
ray.get(group.ready())
@ray.remote(num_cpus=0)
def host():
    return [os.environ[key] for key in ("TPU_NAME", "TPU_WORKER_ID", "TPU_ACCELERATOR_TYPE")] + [socket.gethostname()]
at = [PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=index) for index in range(2)]
hosts = sorted(ray.get([host.options(scheduling_strategy=each).remote() for each in at]))
nodes = [node for node in ray.nodes() if node["Alive"] and slice in node["Resources"]]
nodes.sort(key=lambda node: node["Labels"]["ray.io/tpu-worker-id"])
print("FOUND " + json.dumps({
    "slice": slice,
    "hosts": hosts,
    "resources": [{key: value for key, value in node["Resources"].items() if "TPU" in key or key == slice} for node in nodes],
    "labels": [{key[11:]: value for key, value in node["Labels"].items() if key.startswith("ray.io/tpu-")} for node in nodes],
}))
`;

/** Tells where it runs; the first time it goes on until it is ended. */
const onItsSlices = `
import json, os, time
attempt = os.environ["MANTA_JOB_ATTEMPT"]
[slice] = json.loads(os.environ["MANTA_SLICES"])
assert slice == os.environ["TPU_NAME"]
print(attempt, slice, "on", os.environ["TPU_WORKER_ID"], flush=True)
while attempt == "1":
    time.sleep(1)
`;

interface Found {
  readonly slice: string;
  readonly hosts: readonly (readonly string[])[];
  readonly resources: readonly Readonly<Record<string, number>>[];
  readonly labels: readonly Readonly<Record<string, string>>[];
}

describe('a cluster with TPU slices', { skip: clusterProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    all = await GoogleClusterBed.open();
    all.bed.write(file, clusterFile);
    await all.manta('up', '-y', file);
  });
  after(() => all?.close());

  it('gets a slice for work that asks for one, and every host knows which one it is', async () => {
    const said = await all.job('reef', onEveryHost);
    const { slice, hosts, resources, labels } = JSON.parse(/^FOUND (.*)$/m.exec(said)?.[1] ?? '{}') as Found;
    assert.deepEqual(
      hosts.map((host) => host.slice(0, 3)),
      [0, 1].map((index) => [slice, String(index), 'v4-16']),
    );
    assert.equal(new Set(hosts.map((host) => host[3])).size, 2, 'they are two machines');
    assert.deepEqual(resources, [
      { TPU: 4, 'accelerator_type:TPU-V4': 1, 'TPU-v4-16-head': 1, [slice]: 1 },
      { TPU: 4, 'accelerator_type:TPU-V4': 1, [slice]: 1 },
    ]);
    assert.deepEqual(
      labels,
      [0, 1].map((index) => ({
        ...{ 'slice-name': slice, 'worker-id': String(index), topology: '2x2x2', 'pod-type': 'v4-16' },
      })),
    );
    for (const [index, worker] of all.ofKind('reef', 'worker').entries())
      assert.equal(await all.host(worker).must('cat /home/ubuntu/set-up'), `${slice} ${index} v4-16\n`);
  });

  it('runs a job on a whole slice, and again on another when that one is preempted', async () => {
    all.bed.write('jobs/job.py', onItsSlices);
    const options = ['-n', 'reef', '--submission-id', 'gang', '--tpu', 'v4-16', '--working-dir', 'jobs'];
    const { ended } = all.start('job', 'submit', ...options, '--', 'python', 'job.py');
    const first = await eventually('it runs', async () => {
      const { stdout } = await all.run('job', 'logs', '-n', 'reef', 'gang');
      return /^1 (\S+) on 0$/m.exec(stdout)?.[1];
    });
    await all.google.admin.preempt(all.google.idOf(`${first}/1`));
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stdout + stderr);
    const second = /^2 (\S+) on 0$/m.exec(stdout)?.[1];
    assert.ok(second !== undefined && second !== first, stdout + stderr);
    assert.deepEqual(
      [...all.google.world.tpu.slices.values()].map(({ id }) => id),
      [second],
    );
  });

  it('loses its head: the first host of the slice deletes the slice, which would cost though it is switched off', async () => {
    const since = await all.lastCall();
    await all.google.admin.vanish(all.ofKind('reef', 'head')[0]!.id);
    await eventually('the slice is gone', () => all.google.world.tpu.slices.size === 0);
    const deletes = (await all.google.admin.calls({ since })).filter(({ operation }) => operation === 'nodes.delete');
    assert.deepEqual(
      deletes.map(({ status }) => status),
      [200],
    );
  });

  it('takes its slices along when it goes down', async () => {
    await all.manta('up', '-y', file);
    await all.job('reef', onEveryHost);
    assert.equal(all.google.world.tpu.slices.size, 1);
    assert.match(await all.manta('down', '-y', file), /nothing is left/);
    assert.equal(all.google.world.tpu.slices.size, 0);
    await all.assertNothingLeft('reef');
  });
});
