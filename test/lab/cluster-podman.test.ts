// needs: ray, hosts, podman

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inSoak } from '../soak.ts';
import {
  acrossProgram,
  ClusterBed,
  clusterProblem,
  eventually,
  leftOn,
  NodeTable,
  quickDeath,
  smallRay,
} from './cluster-bed.ts';
import { itIsUsed } from './cluster-uses.ts';

const file = 'cluster.yaml';
const workers = inSoak('cluster-podman') ? 3 : 2;

/** The image is that of Ray's own kind: its user is `ray`, who is not root and has another home than the user outside. */
const clusterFile = (bed: ClusterBed): string => `
cluster_name: boxes
provider:
  type: local
  head_ip: ${bed.head.address}
  worker_ips: [${bed.workers.map(({ address }) => address).join(', ')}]
auth:
  ssh_user: root
docker:
  image: ${bed.lab.registry!.images.rayUser}
  container_name: ray_container
  use_podman: true
  pull_before_run: true
  run_options:
    - --shm-size=200m
    - -e GREETING="hello there"
    - -v $HOME/shared:/shared
file_mounts:
  ~/project: project
  /etc/greeting: greeting
initialization_commands:
  - mkdir -p ~/shared; chmod 777 ~/shared; cp "$MANTA_FILES/etc/greeting" ~/shared/seen-by-host
setup_commands:
  - echo "$(id -un) $GREETING $(cat ~/project/version) $(cat /etc/greeting)" >> /shared/set-up
head_start_ray_commands:
  - ray stop
  - ${quickDeath} ray start --head --port=6379 ${smallRay}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${smallRay}
`;

describe(`a head and ${workers} workers in podman containers`, { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let up: string;
  let table: NodeTable | undefined;
  const allHosts = (): string => bed.lab.hosts.map(({ name }) => name).join(' ');
  before(async () => {
    bed = await ClusterBed.open({ hosts: workers + 1, podman: true, node: true, cron: true });
    bed.write('project/version', 'one\n');
    bed.write('greeting', 'good day\n');
    bed.write('jobs/across.py', acrossProgram);
    bed.write(file, clusterFile(bed));
    up = await bed.manta(['up', '-y', file]);
  });
  after(async () => {
    await table?.close();
    await bed?.close();
  });

  it('are all nodes of Ray when up comes back, from an image of a registry', async () => {
    assert.match(up, new RegExp(`a head and ${workers} workers`));
    table = new NodeTable(bed, file);
    const alive = await table.until('some node is alive', ({ length }) => length > 0);
    assert.equal(alive.length, workers + 1);
    for (const host of bed.lab.hosts)
      assert.match(await host.must("podman ps --format '{{.Names}} {{.Image}}'"), /^ray_container .*lab\/ray-user/);
  });

  it('were set up once in their containers, with files and options, after their hosts', async () => {
    for (const host of bed.lab.hosts) {
      assert.equal(await host.must('cat ~/shared/set-up'), 'ray hello there one good day\n', host.name);
      assert.equal(await host.must('cat ~/shared/seen-by-host'), 'good day\n', host.name);
    }
  });

  it('run a job on all of them at once', async () => {
    const said = await bed.manta([
      'job',
      'submit',
      '-n',
      'boxes',
      '--working-dir',
      'jobs',
      '--',
      'python',
      'across.py',
    ]);
    assert.equal(/^HOSTS (.*)$/m.exec(said)?.[1], allHosts(), said);
  });

  it('run a job on all of them whose package is larger than Ray takes', async () => {
    bed.write('large/across.py', acrossProgram);
    await bed.laptop.must('head -c 115343360 /dev/urandom > ~/large/random');
    const words = ['job', 'submit', '-n', 'boxes', '--working-dir', 'large', '--', 'python', 'across.py'];
    const said = await bed.manta(words);
    assert.equal(/^HOSTS (.*)$/m.exec(said)?.[1], allHosts(), said);
  });

  it('tell drivers in a container what can never be met', async () => {
    const asks = 'ray.remote(resources={"unobtainium": 1})(lambda: 1).remote()';
    const driver = `import ray, time; ray.init(); waiting = ${asks}; time.sleep(600)`;
    const running = bed.start(['exec', file, `python -u -c '${driver}'`]);
    let said = '';
    for (const stream of [running.stdout!, running.stderr!])
      stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    await eventually('it is told', () => {
      if (!/No node type can ever fit 1 task of .*1 unobtainium/.test(said)) throw new Error(said);
      return true;
    });
    running.kill('SIGTERM');
  });

  it('run commands in the container, or on the host where asked', async () => {
    assert.equal(await bed.manta(['exec', file, 'id -un; echo ~']), 'ray\n/home/ray\n');
    assert.equal(await bed.manta(['exec', '--run-env', 'host', file, 'id -un']), 'root\n');
    assert.match(await bed.manta(['exec', file, 'podman ps']), /ray_container/);
  });

  itIsUsed(() => ({ bed, file }));

  it('show a changed file to their containers, without another container', async () => {
    const made = await bed.head.must("podman inspect -f '{{.Id}}' ray_container");
    bed.write('greeting', 'good evening\n');
    await bed.manta(['up', '-y', '--no-restart', file]);
    assert.equal(await bed.manta(['exec', file, 'cat /etc/greeting']), 'good evening\n');
    assert.equal(await bed.head.must("podman inspect -f '{{.Id}}' ray_container"), made);
    await eventually('the workers have it', async () => {
      for (const host of bed.workers)
        assert.equal(await host.must('podman exec ray_container cat /etc/greeting'), 'good evening\n', host.name);
      return true;
    });
  });

  it('are made anew with their files and set up again when one is gone', async () => {
    const done = await bed.head.must('cat ~/shared/set-up');
    await bed.head.must('podman rm -f ray_container');
    await eventually('it was set up again', async () => (await bed.head.must('cat ~/shared/set-up')) !== done);
    assert.equal(await bed.head.must('cat ~/shared/set-up'), `${done}ray hello there one good evening\n`);
    await table!.close();
    await eventually('Ray runs in it', async () => (await bed.run(['exec', file, 'ray status'])).code === 0);
    table = new NodeTable(bed, file);
    await table.until('all nodes are there again', ({ length }) => length === workers + 1);
    assert.match(await bed.manta(['up', '--plan', file]), /: nothing to do/);
  });

  // Without containers it is proven by every test run.
  if (inSoak('cluster-podman'))
    it('are repaired when the power of a worker is cut', async () => {
      const worker = bed.workers[1]!;
      await worker.kill();
      await table!.until('the node is dead', ({ length }) => length === workers);
      await worker.boot();
      await table!.until('the node is back', ({ length }) => length === workers + 1);
    });

  it('leave nothing behind on any machine when the cluster is down', async () => {
    await table?.close();
    table = undefined;
    assert.match(await bed.manta(['down', '-y', file]), new RegExp(`checked ${workers + 1} hosts, nothing is left`));
    for (const host of [bed.laptop, ...bed.lab.hosts])
      assert.deepEqual(await leftOn(bed, host, 'boxes'), [], host.name);
  });
});
