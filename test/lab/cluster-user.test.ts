// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExecResult } from '../../lab/lab.ts';
import {
  acrossProgram,
  ClusterBed,
  clusterProblem,
  eventually,
  leftOn,
  NodeTable,
  rayletOf,
  smallRay,
} from './cluster-bed.ts';
import { itIsUsed } from './cluster-uses.ts';

const file = 'old.yaml';
const workers = 2;

interface Changes {
  readonly workerSetUp?: string;
  readonly headSetUp?: string;
  /** Goes into the start commands of all nodes. */
  readonly start?: string;
}

/** A file of 2020 for own machines, with the keys that Ray has dropped since, and a head that believes in its monitor. */
const clusterFile = (bed: ClusterBed, { workerSetUp = 'as ever', headSetUp, start = '' }: Changes = {}): string => `
cluster_name: old
min_workers: ${workers}
initial_workers: ${workers}
max_workers: ${workers}
autoscaling_mode: default
target_utilization_fraction: 0.8
idle_timeout_minutes: 5
docker:
    image: "" # e.g., tensorflow/tensorflow:1.5.0-py3
    container_name: "" # e.g. ray_docker
    pull_before_run: True
    run_options: []  # Extra options to pass into "docker run"
provider:
    type: local
    head_ip: h1
    worker_ips: [h2, h3]
auth:
    ssh_user: ${bed.user}
    ssh_private_key: ~/.ssh/id_ed25519
head_node: {}
worker_nodes: {}
file_mounts: {
    "~/project": "~/project",
}
initialization_commands: []
setup_commands:
    - echo "$(id -un) $(cat ~/project/version)" >> ~/set-up
head_setup_commands: [${headSetUp === undefined ? '' : `echo ${headSetUp} >> ~/head-set-up`}]
worker_setup_commands:
    - echo "${workerSetUp}" >> ~/worker-set-up
head_start_ray_commands:
    - ray stop
    - ulimit -c unlimited && ray start --head --port=6379 --autoscaling-config=~/ray_bootstrap_config.yaml ${smallRay} ${start}
worker_start_ray_commands:
    - ray stop
    - ray start --address=$RAY_HEAD_IP:6379 ${smallRay} ${start}
`;

describe('a legacy file, as a user without root', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let up: ExecResult;
  let table: NodeTable | undefined;
  before(async () => {
    bed = await ClusterBed.open({ hosts: workers + 1, ray: true, user: 'bob' });
    bed.write('project/version', 'one\n');
    bed.write('jobs/across.py', acrossProgram);
    bed.write(file, clusterFile(bed));
    up = await bed.run(['up', '-y', file]);
    assert.equal(up.code, 0, up.stderr);
  });
  const closeTable = async (): Promise<void> => {
    await table?.close();
    table = undefined;
  };
  after(async () => {
    await closeTable();
    await bed?.close();
  });
  const raylets = (): (number | undefined)[] => bed.lab.hosts.map(rayletOf);
  const linesOf = (path: string): Promise<string[]> =>
    Promise.all(bed.lab.hosts.map((host) => host.must(`cat ~/${path} 2>/dev/null || true`)));

  it('brings all nodes up, and says which keys are old', async () => {
    const { stdout, stderr } = up;
    assert.match(stderr, /head_node/);
    assert.match(stderr, /target_utilization_fraction/);
    assert.match(stdout, /a head and 2 workers/);
    table = new NodeTable(bed, file);
    const alive = await table.until('some node is alive', ({ length }) => length > 0);
    assert.deepEqual(alive.map(({ address }) => address).sort(), bed.lab.hosts.map(({ address }) => address).sort());
  });

  it('does everything as that user, and starts no monitor of Ray', async () => {
    assert.deepEqual(await linesOf('set-up'), Array<string>(3).fill('bob one\n'));
    for (const host of bed.lab.hosts) {
      const foreign = await host.must(
        "ps -eo user=,args= | grep -E 'ray|manta' | grep -vE '^bob|grep|sshd|ps -eo' || true",
        {
          user: 'root',
        },
      );
      assert.equal(foreign, '', host.name);
      assert.doesNotMatch(await host.must('ps -eo args='), /\/monitor\.py/);
    }
  });

  it('runs a job on all nodes at once', async () => {
    const said = await bed.manta(['job', 'submit', '-n', 'old', '--working-dir', 'jobs', '--', 'python', 'across.py']);
    assert.equal(/^HOSTS (.*)$/m.exec(said)?.[1], 'h1 h2 h3', said);
  });

  itIsUsed(() => ({ bed, file }));

  it('sets the workers up again one by one when their set-up changes, and leaves the head alone', async () => {
    const [head, ...before] = raylets();
    bed.write(file, clusterFile(bed, { workerSetUp: 'another' }));
    assert.match(await bed.manta(['up', '--plan', file]), /worker_setup_commands/);
    await bed.manta(['up', '-y', file]);
    await eventually('all workers were set up again', async () => {
      const [onHead, ...onWorkers] = await linesOf('worker-set-up');
      assert.equal(onHead, '');
      return onWorkers.every((text) => text === 'as ever\nanother\n');
    });
    await table!.until('all nodes are alive', ({ length }) => length === workers + 1);
    const [headNow, ...now] = raylets();
    assert.equal(headNow, head, 'the head was not touched');
    assert.ok(
      now.every((pid, at) => pid !== undefined && pid !== before[at]),
      'each worker runs another raylet',
    );
    assert.deepEqual(await linesOf('set-up'), ['bob one\n', 'bob one\nbob one\n', 'bob one\nbob one\n']);
  });

  it('sets up again what was so once and has been otherwise since', async () => {
    const before = raylets();
    for (const headSetUp of ['one', 'two', 'one']) {
      bed.write(file, clusterFile(bed, { workerSetUp: 'another', headSetUp }));
      await bed.manta(['up', '-y', file]);
    }
    await bed.manta(['up', '-y', file]);
    assert.deepEqual(await linesOf('head-set-up'), ['one\ntwo\none\n', '', '']);
    assert.deepEqual(raylets(), before);
  });

  it('leaves Ray as it is with --no-restart', async () => {
    const before = raylets();
    bed.write(file, clusterFile(bed, { workerSetUp: 'another', start: '--resources=\'{"extra":1}\'' }));
    await bed.manta(['up', '-y', '--no-restart', file]);
    assert.deepEqual(raylets(), before);
  });

  it('starts Ray anew, and sets nothing up, with --restart-only', async () => {
    const before = raylets();
    const done = await linesOf('set-up');
    await closeTable();
    await bed.manta(['up', '-y', '--restart-only', file]);
    table = new NodeTable(bed, file);
    const alive = await table.until('all nodes are new', (nodes) => {
      return nodes.length === workers + 1 && nodes.every(({ resources }) => resources['extra'] === 1);
    });
    assert.equal(alive.length, workers + 1);
    assert.ok(raylets().every((pid, at) => pid !== undefined && pid !== before[at]));
    assert.deepEqual(await linesOf('set-up'), done);
  });

  it('leaves nothing behind on any machine when the cluster is down', async () => {
    await closeTable();
    assert.match(await bed.manta(['down', '-y', file]), /checked 3 hosts, nothing is left/);
    for (const host of [bed.laptop, ...bed.lab.hosts]) assert.deepEqual(await leftOn(bed, host, 'old'), [], host.name);
  });
});
