// needs: botocore, ray, hosts, podman, soak

/** What repeats the proof of other tests on lab hosts: files with containers, legacy files, clusters of one file. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AwsClusterBed } from './aws-cluster-bed.ts';
import { full2021, full2024, standIns, throughTheLab, torchx } from './aws-corpus.ts';
import { needs, startRay } from './cloud-cluster-bed.ts';
import { corpusProblem } from './cloud-corpus.ts';
import { clusterProblem, eventually } from './cluster-bed.ts';

const oneCpu = needs('{"num_cpus": 1}');

const loop = `
cluster_name: loop
max_workers: 2
provider: {type: aws, region: us-west-2, availability_zone: "us-west-2a,us-west-2b"}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head: {node_config: {InstanceType: m5.large}, resources: {CPU: 0}}
  worker:
    node_config: {InstanceType: m5.large, InstanceMarketOptions: {MarketType: spot}}
    resources: {CPU: 1}
    min_workers: 2
    max_workers: 2
worker_setup_commands:
  - sleep 5
${startRay}`;

/** As files of 2020 were: no node types, options of containers in both forms, and a mount that commands of the host use. */
const legacy = (image: string): string => `
cluster_name: old
min_workers: 1
initial_workers: 1
max_workers: 1
target_utilization_fraction: 0.8
docker:
  image: ${image}
  container_name: ray_container
  run_options:
    - --ulimit nofile=4096:4096 --ulimit nproc=4096:4096
    - "-v"
    - "$HOME/shared:/shared"
provider: {type: aws, region: us-west-2, availability_zone: us-west-2a, cache_stopped_nodes: False}
auth: {ssh_user: ubuntu}
head_node: {InstanceType: m5.large}
worker_nodes: {InstanceType: m5.large}
file_mounts: {/tmp/greeting: greeting}
initialization_commands:
  - mkdir -p ~/shared && cp "$(find /tmp/ray* -type f -name greeting -print -quit)" ~/shared/greeting
setup_commands:
  - grep -q hello /shared/greeting
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - export AUTOSCALER_MAX_NUM_FAILURES=1000; ray start --head --port=6379
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379
`;

describe('clusters on AWS, at length', { skip: clusterProblem() ?? false }, () => {
  let all: AwsClusterBed;
  before(async () => {
    const image = { ray: true, cron: true, podman: true, first: standIns(true) };
    all = await AwsClusterBed.open({ hosts: 1, podman: true }, { image, retired: true });
  });
  after(() => all?.close());

  it('goes on when machines vanish, and when one is taken back while it is set up', async () => {
    all.bed.write('loop.yaml', loop);
    const up = all.start('up', '-y', 'loop.yaml');
    const workers = () => all.ofKind('loop', 'worker').filter(({ now }) => now.state === 'running');
    const [first, second] = await eventually('both workers are set up', () => workers().length === 2 && workers());
    await all.aws.admin.preempt(first!.id, 3);
    const { code, stderr } = await up.ended;
    assert.equal(code, 0, stderr);
    await all.aws.admin.vanish(second!.id);
    const old = new Set([first!.id, second!.id]);
    await eventually(
      'two others have taken their place',
      () => workers().filter(({ id }) => !old.has(id)).length === 2,
    );
    assert.match(await all.job('loop', oneCpu), /^RAN ON h\d+$/m);
    assert.match(await all.manta('down', '-y', 'loop.yaml'), /nothing is left/);
    await all.assertNothingLeft('loop');
  });

  it('takes legacy files, with mounts that commands of the host see, and options in both forms', async () => {
    all.bed.write('old.yaml', legacy(all.bed.lab.registry!.images.ray));
    all.bed.write('greeting', 'hello\n');
    await all.manta('up', '-y', 'old.yaml');
    await eventually('the worker says that it is up', () =>
      all.ofKind('old', 'worker').some(({ now }) => now.tags['ray-node-status'] === 'up-to-date'),
    );
    const names = (await all.aws.admin.belongings()).flatMap((each) => ('name' in each ? [each.name] : []));
    assert.ok(names.includes('ray-autoscaler-old'), 'a group and a key of its own');
    assert.match(await all.manta('exec', 'old.yaml', 'cat /shared/greeting'), /hello/);
    assert.match(await all.manta('down', '-y', 'old.yaml'), /nothing is left/);
    await all.assertNothingLeft('old');
  });

  it('runs a command on clusters of several names from one file, started and stopped for it', async () => {
    all.bed.write('loop.yaml', loop.replace('min_workers: 2', 'min_workers: 0'));
    const names = ['one', 'two'];
    const said = await Promise.all(
      names.map((name) => all.manta('exec', '--start', '--stop', '-n', name, 'loop.yaml', 'hostname')),
    );
    for (const each of said) assert.match(each, /^h\d+$/m);
    for (const name of names) await eventually(`${name} is gone`, () => all.existing(name).length === 0);
  });

  for (const each of [full2024, full2021, torchx])
    it(
      `${each.file} comes up, runs on a machine of each kind, and leaves nothing`,
      { skip: corpusProblem() ?? false },
      (t) => throughTheLab(all, each, (line) => t.diagnostic(line)),
    );
});
