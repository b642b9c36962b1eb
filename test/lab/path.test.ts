// needs: ray, hosts

/** One way through all of Manta on real Ray and own hosts, short enough for every day. `npm test` walks it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ClusterBed, clusterProblem, eventually, leftOn, rayletOf, smallRay } from './cluster-bed.ts';

const file = 'cluster.yaml';
const small = smallRay.replace('--num-cpus=1 ', '');

const clusterFile = (bed: ClusterBed): string => `
cluster_name: path
max_workers: 2
provider:
  type: local
  head_ip: ${bed.head.address}
  worker_ips: []
  manta:
    pools:
      worker:
        hosts: [${bed.workers.map(({ address }) => address).join(', ')}]
        resources: {CPU: 1}
        min_workers: 0
        idle_timeout_s: 12
auth:
  ssh_user: root
setup_commands:
  - echo set up >> ~/set-up
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 --num-cpus=0 ${small}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 --num-cpus=1 ${small}
`;

/** Two pieces of work that wait for each other: they need two nodes, and there is none. */
const work = `
import ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=0)
class Gate:
    def __init__(self): self.places = set()
    def enter(self, host):
        self.places.add(host)
    def both(self): return len(self.places) == 2
gate = Gate.remote()
@ray.remote(num_cpus=1)
def piece():
    import time
    host = socket.gethostname()
    ray.get(gate.enter.remote(host))
    while not ray.get(gate.both.remote()): time.sleep(0.1)
    return host
print("HOSTS", *sorted(ray.get([piece.remote(), piece.remote()])))
`;

describe('a cluster of real Ray on own hosts', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  before(async () => {
    bed = await ClusterBed.open({ hosts: 3, ray: true, cron: true });
    bed.write(file, clusterFile(bed));
    bed.write('jobs/work.py', work);
  });
  after(() => bed?.close());

  it('comes up with a head alone', async () => {
    assert.match(await bed.manta(['up', '-y', file]), /'path'/);
    assert.notEqual(rayletOf(bed.head), undefined);
    for (const worker of bed.workers) assert.equal(rayletOf(worker), undefined, worker.name);
  });

  it('grows by what a job asks for of Ray, and runs it on what came', async () => {
    const said = await bed.manta(['job', 'submit', '-n', 'path', '--working-dir', 'jobs', '--', 'python', 'work.py']);
    assert.equal(/^HOSTS (.*)$/m.exec(said)?.[1], bed.workers.map(({ name }) => name).join(' '), said);
    for (const worker of bed.workers) assert.equal(await worker.must('cat ~/set-up'), 'set up\n');
  });

  it('shrinks when nothing is left to do', async () => {
    await eventually('no worker is left', () => bed.workers.every((worker) => rayletOf(worker) === undefined));
    assert.notEqual(rayletOf(bed.head), undefined);
  });

  it('leaves nothing behind when it goes down', async () => {
    const said = await bed.manta(['down', '-y', file]);
    assert.match(said, /checked 3 hosts, nothing is left/);
    for (const host of [bed.laptop, bed.head, ...bed.workers])
      assert.deepEqual(await leftOn(bed, host, 'path'), [], host.name);
  });
});
