// needs: ray, hosts

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { inSoak } from '../soak.ts';
import {
  acrossProgram,
  ClusterBed,
  clusterProblem,
  eventually,
  leftOn,
  NodeTable,
  program,
  quickDeath,
  type RayNode,
  rayletOf,
  smallRay,
} from './cluster-bed.ts';
import { itIsUsed } from './cluster-uses.ts';

const workers = inSoak('cluster-nine') ? 8 : 4;
const file = 'cluster.yaml';

const clusterFile = (bed: ClusterBed, limit: number): string => `
cluster_name: nine
max_workers: ${limit}
provider:
  type: local
  head_ip: ${bed.head.address}
  worker_ips: [${bed.workers.map(({ address }) => address).join(', ')}]
auth:
  ssh_user: root
file_mounts:
  /root/project: project
setup_commands:
  - echo "$(hostname) $(cat ~/project/version)" >> ~/set-up
head_start_ray_commands:
  - ray stop
  - ${quickDeath} ray start --head --port=6379 ${smallRay}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${smallRay}
`;

describe(`a head and ${workers} workers`, { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let up: string;
  before(async () => {
    bed = await ClusterBed.open({ hosts: workers + 1, ray: true, cron: true });
    bed.write('project/version', 'one\n');
    bed.write('jobs/across.py', acrossProgram);
    bed.write(file, clusterFile(bed, 20));
    up = await bed.manta(['up', '-y', file]);
  });

  let table: NodeTable | undefined;
  after(() => table?.close().then(() => bed.close()) ?? bed?.close());
  const addresses = (nodes: readonly RayNode[]): string[] => nodes.map(({ address }) => address).sort();
  const everyAddress = (): string[] => [bed.head, ...bed.workers].map(({ address }) => address).sort();

  it('are all nodes of Ray when up comes back', async () => {
    assert.match(up, new RegExp(`a head and ${workers} workers`));
    table = new NodeTable(bed, file);
    const alive = await table.until('some node is alive', ({ length }) => length > 0);
    assert.deepEqual(addresses(alive), everyAddress());
    assert.equal(await bed.manta(['get-head-ip', file]), `${bed.head.address}\n`);
    const listed = (await bed.manta(['get-worker-ips', file])).trim().split('\n');
    assert.deepEqual(listed.sort(), bed.workers.map(({ address }) => address).sort());
  });

  it('were each set up once, with the files', async () => {
    for (const host of [bed.head, ...bed.workers])
      assert.equal(await host.must('cat ~/set-up; stat -c %a ~/set-up'), `${host.name} one\n644\n`);
  });

  it('are shown by manta status as by ray status on the head', async () => {
    const nodesIn = (text: string): string[] =>
      /\nActive:\n([^]*?)\nPending:/
        .exec(text)?.[1]
        ?.split('\n')
        .map((line) => line.trim())
        .filter((line) => /^\d/.test(line)) ?? [];
    const usageIn = (text: string): string[] =>
      /\nTotal Usage:\n([^]*?)\n\n/
        .exec(text)?.[1]
        ?.split('\n')
        .map((line) => line.trim().replace(/^[^/]*/, ''))
        .sort() ?? [];
    await eventually('both say the same', async () => {
      const ours = await bed.manta(['status', file]);
      const rays = await bed.manta(['exec', file, 'ray status']);
      const said = `manta status:\n${ours}\nray status:\n${rays}`;
      assert.equal(
        nodesIn(ours).reduce((sum, line) => sum + Number.parseInt(line, 10), 0),
        workers + 1,
        said,
      );
      assert.deepEqual(nodesIn(rays), nodesIn(ours), said);
      assert.deepEqual(usageIn(rays), usageIn(ours), said);
      return true;
    });
  });

  it('run a job on all of them at once', async () => {
    const said = await bed.manta(['job', 'submit', '-n', 'nine', '--working-dir', 'jobs', '--', 'python', 'across.py']);
    const hosts = [bed.head, ...bed.workers].map(({ name }) => name).sort();
    assert.equal(/^HOSTS (.*)$/m.exec(said)?.[1], hosts.join(' '), said);
  });

  // In containers it is used by every test run.
  if (inSoak('cluster-nine')) itIsUsed(() => ({ bed, file }));

  it('are followed by monitor', async () => {
    const watching = bed.start(['monitor', file]);
    let shown = '';
    watching.stdout!.on('data', (piece: Buffer) => (shown += piece.toString()));
    const closed = once(watching, 'close');
    await eventually('monitor shows all nodes', () => new RegExp(`nodes: ${workers + 1} running`).test(shown));
    watching.kill('SIGINT');
    await closed;
  });

  it("take jobs of ray's own commands through the tunnel of the dashboard", async () => {
    const tunnel = bed.start(['dashboard', file, '--no-open']);
    let said = '';
    for (const stream of [tunnel.stdout!, tunnel.stderr!])
      stream.on('data', (piece: Buffer) => (said += piece.toString()));
    const closed = once(tunnel, 'close');
    await eventually('the tunnel stands', () => said.includes('http://localhost:8265'));
    const submit = `ray job submit --address http://localhost:8265 -- python -c 'print(6 * 7)'`;
    const refused = await bed.laptop.exec(['bash', '-lc', submit], { user: bed.user });
    assert.notEqual(refused.code, 0, 'without the token nothing is taken');
    const real = await bed.on(bed.laptop, `eval "$(${program} env ${file})"; ${submit}`);
    assert.match(real, /^42$/m, real);
    assert.match(real, /succeeded/);
    await bed.laptop.must('mkdir shim');
    await bed.manta(['shim', 'install', 'shim']);
    const shimmed = await bed.on(
      bed.laptop,
      `export PATH=~/shim:$PATH; ${submit}; echo "code $?"; ray job submit --address http://localhost:8265 -- sh -c 'exit 3'; echo "code $?"`,
    );
    assert.match(shimmed, /^42$/m, shimmed);
    assert.match(shimmed, /^code 0$/m);
    assert.match(shimmed, /^code [1-9]\d*$/m, 'a job that failed fails its submission');
    await bed.head.dropConnections();
    const again = await bed.on(bed.laptop, `PATH=~/shim:$PATH; ${submit}`);
    assert.match(again, /^42$/m, 'the tunnel comes back after its connection dropped');
    tunnel.kill('SIGINT');
    await closed;
  });

  const raylets = (): (number | undefined)[] => [bed.head, ...bed.workers].map(rayletOf);

  it('go on untouched when only a limit changes', async () => {
    const before = raylets();
    bed.write(file, clusterFile(bed, workers));
    const plan = await bed.manta(['up', '--plan', file]);
    assert.match(plan, /max_workers/);
    assert.match(plan, /nothing to do/);
    await bed.manta(['up', '-y', file]);
    await bed.manta(['up', '-y', file]);
    assert.deepEqual(raylets(), before);
  });

  it('are repaired when a raylet is killed', async () => {
    const worker = bed.workers[0]!;
    const others = raylets().toSpliced(1, 1);
    const before = await table!.until('all nodes are alive', ({ length }) => length === workers + 1);
    const killed = before.find(({ address }) => address === worker.address)!;
    await worker.must(`kill -9 ${rayletOf(worker)}`);
    await table!.until('the node is another', (alive) => {
      const now = alive.find(({ address }) => address === worker.address);
      return now !== undefined && now.id !== killed.id && alive.length === workers + 1;
    });
    assert.deepEqual(raylets().toSpliced(1, 1), others, 'nobody else was touched');
  });

  it('are repaired when the power of a worker is cut', async () => {
    const worker = bed.workers[1]!;
    const others = raylets().toSpliced(2, 1);
    await worker.kill();
    await table!.until('the node is dead', ({ length }) => length === workers);
    await worker.boot();
    const back = await table!.until('the node is back', ({ length }) => length === workers + 1);
    assert.deepEqual(addresses(back), everyAddress());
    assert.deepEqual(raylets().toSpliced(2, 1), others, 'nobody else was touched');
  });

  it('leave nothing behind on any machine when the cluster is down', async () => {
    await table?.close();
    table = undefined;
    const said = await bed.manta(['down', '-y', file]);
    assert.match(said, new RegExp(`checked ${workers + 1} hosts, nothing is left`));
    for (const host of [bed.head, ...bed.workers]) assert.deepEqual(await leftOn(bed, host, 'nine'), [], host.name);
    assert.deepEqual(await leftOn(bed, bed.laptop, 'nine'), [], 'the laptop');
    assert.match(await bed.manta(['down', '-y', file]), /There was no cluster 'nine'/);
    assert.deepEqual(await leftOn(bed, bed.laptop, 'nine'), [], 'the laptop');
  });
});
