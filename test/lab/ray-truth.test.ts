// needs: ray, hosts

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { LabHost } from '../../lab/lab.ts';
import { ClusterBed, clusterProblem, eventually, rayletOf, smallRay } from './cluster-bed.ts';

const file = 'cluster.yaml';

/** The set-up of the second worker waits: what is on its way stays so for as long as it is looked at. */
const clusterFile = ({ head, workers: [steady, extra] }: ClusterBed): string => `
cluster_name: truth
max_workers: 2
provider:
  type: local
  head_ip: ${head.address}
  worker_ips: []
  manta:
    pools:
      steady: {hosts: [${steady!.address}], resources: {CPU: 1, steady: 1}, min_workers: 1}
      extra: {hosts: [${extra!.address}], resources: {CPU: 1, extra: 4}, min_workers: 0, idle_timeout_s: 3}
auth: {ssh_user: root}
worker_setup_commands:
  - if [ "$(hostname)" = ${extra!.name} ]; then while [ ! -e /tmp/go ]; do sleep 0.2; done; fi
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${smallRay.replace('--num-cpus=1', '--num-cpus=0')}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${smallRay.replace('--num-cpus=1 ', '')}
`;

/** Asks for more than there is, then for what nobody can give; says when it has what it can get. */
const driver = `
import ray, time
from ray.autoscaler.sdk import request_resources
ray.init(address="auto")
request_resources(bundles=[{"extra": 4}])
@ray.remote(num_cpus=0, resources={"extra": 1})
def extra(): return "GOT IT"
@ray.remote(num_cpus=0, resources={"unobtainium": 2})
def never(): pass
ask = never.remote()
print(ray.get(extra.remote()), flush=True)
request_resources(bundles=[])
time.sleep(3600)
`;

describe('what Ray itself shows of a cluster of Manta', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let extra: LabHost;
  let steady: LabHost;
  let running: ChildProcess | undefined;
  let said = '';
  let owner = '';

  before(async () => {
    bed = await ClusterBed.open({ hosts: 3, ray: true, cron: true });
    [steady, extra] = bed.workers as [LabHost, LabHost];
    bed.write(file, clusterFile(bed));
    await bed.manta(['up', '-y', file]);
    owner = (await bed.head.must('cat ~/.manta/head/clusters/truth/tokens/owner')).trim();
  });
  after(async () => {
    running?.kill('SIGKILL');
    await bed?.close();
  });

  const onHead = (command: string): Promise<string> => bed.manta(['exec', file, command]);
  const get = async (path: string, token?: string): Promise<string> =>
    await bed.head.must(
      `curl -sS --max-time 20 ${token === undefined ? '' : `-H 'Authorization: Bearer ${token}'`} 'http://127.0.0.1:8265${path}'`,
    );
  const told = (pattern: RegExp): Promise<true> =>
    eventually(`drivers are told ${pattern}`, () => {
      if (!pattern.test(said)) throw new Error(said.slice(-3_000));
      return true;
    });

  it('its nodes, by their types and instances, in `ray status` and `ray list nodes`', async () => {
    await eventually('both nodes are shown', async () => {
      const text = await onHead('ray status');
      assert.match(text, /1 local\.cluster\.node/);
      assert.match(text, /1 steady/);
      return true;
    });
    const listed = await onHead('ray list nodes --format json');
    const nodes = JSON.parse(listed.slice(listed.indexOf('['))) as { state: string; node_ip: string }[];
    assert.deepEqual(nodes.map(({ node_ip, state }) => `${node_ip} ${state}`).sort(), [
      `${bed.head.address} ALIVE`,
      `${steady.address} ALIVE`,
    ]);
  });

  it('a launch that request_resources() has brought about, as pending, until it is there', async () => {
    bed.write('driver.py', driver);
    await bed.manta(['rsync-up', file, 'driver.py', 'driver.py']);
    running = bed.start(['exec', file, 'python -u driver.py']);
    for (const stream of [running.stdout!, running.stderr!])
      stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    await told(/\(autoscaler \+[^)]+\)\S* Adding 1 node\(s\) of type extra\./);
    const pending = await eventually('ray status shows it', async () => {
      const text = await onHead('ray status -v');
      return /extra, (setting up|allocated)|extra, 1 launching/.test(text) && text;
    });
    assert.match(pending, /\{'extra': 4\.0\}.*from request_resources\(\)|'extra': 4\.0/);
    const ours = await bed.manta(['status', file]);
    assert.match(ours, /extra/);
  });

  it('what can never be met, with the reason, in the output of the driver and in the report to Ray', async () => {
    await told(/\(autoscaler \+[^)]+\)\S* No node type can ever fit 1 task of 2 unobtainium: /);
    assert.match(said, /extra: it has nothing, but 2 unobtainium is needed/);
    assert.match(await onHead('ray status'), /\{'unobtainium': 2\.0\}/);
    assert.match(
      await bed.manta(['why', 'demand', '-n', 'truth']),
      /no node type can ever fit 1 task of 2 unobtainium/,
    );
  });

  it('its metrics to a Prometheus that reads the file of Ray, without a token', async () => {
    const file = '/tmp/ray/prom_metrics_service_discovery.json';
    const targets = await eventually('the file names mantad', async () => {
      const text = await bed.head.must(`cat ${file}`);
      const found = (JSON.parse(text) as { targets: string[] }[]).flatMap((each) => each.targets);
      return found.includes('127.0.0.1:8265') && found;
    });
    assert.ok(targets.length > 1, 'beside those of the nodes');
    const text = await get('/metrics');
    assert.match(text, /^autoscaler_active_nodes\{.*NodeType="steady".*\} 1$/m);
    assert.match(text, /^autoscaler_pending_nodes\{.*NodeType="extra".*\} 1$/m);
    const refused = await bed.head.must("curl -s -o /dev/null -w '%{http_code}' -X POST http://127.0.0.1:8265/metrics");
    assert.notEqual(refused.trim(), '200');
  });

  it('the same in Ray’s dashboard behind the gateway, to those who have a token of Manta', async () => {
    assert.match(await get('/api/v0/nodes'), /MANTA_|token/i);
    const nodes = await get('/api/v0/nodes?limit=100', owner);
    for (const { address } of [bed.head, steady]) assert.ok(nodes.includes(address), nodes);
    const status = await get('/api/cluster_status?format=1', owner);
    assert.match(status, /unobtainium/);
    assert.match(status, /extra/);
  });

  it('the node when it has come, and that it goes when nothing needs it', async () => {
    await extra.must('touch /tmp/go');
    await told(/GOT IT/);
    await told(/\(autoscaler \+[^)]+\)\S* Removing 1 nodes of type extra \(idle\)\./);
    await eventually('Ray shows it no more', async () => !/ 1 extra$/m.test(await onHead('ray status')));
    running?.kill('SIGTERM');
  });

  it('jobs that were given to Ray itself are in the lists of Manta too', async () => {
    await onHead('ray job submit --no-wait --address http://127.0.0.1:8264 -- echo past-the-queue');
    await eventually('it is listed', async () =>
      /\(Ray\).*past-the-queue|past-the-queue.*\(Ray\)/.test(await bed.manta(['job', 'list', '-n', 'truth'])),
    );
  });

  it('a job whose package is larger than Ray takes runs on a worker all the same', async () => {
    bed.write('large/word', 'from the package\n');
    await bed.laptop.must('head -c 115343360 /dev/urandom > ~/large/random', { user: bed.user });
    const words = ['job', 'submit', '-n', 'truth', '--working-dir', 'large', '--entrypoint-resources', '{"steady": 1}'];
    const output = await bed.manta([...words, '--', 'cat word; stat -c %s random; hostname']);
    assert.match(output, new RegExp(`from the package\n115343360\n${steady.name}\n`));
  });

  it('a raylet that died is suspect within seconds, explained, and replaced when Ray confirms it', async () => {
    const before = rayletOf(steady);
    await steady.must(`kill -9 ${before}`);
    const events = await eventually('it is suspect', async () => {
      const text = await bed.manta(['events', file, '--lines', '200']);
      return /may be dead: no raylet is listening at/.test(text) && text;
    });
    const instance = /(\S+) \(steady\) may be dead: no raylet/.exec(events)?.[1] ?? '';
    await eventually('another raylet runs', () => ![undefined, before].includes(rayletOf(steady)));
    await eventually('Ray shows it', async () => /1 steady/.test(await onHead('ray status')));
    const why = await bed.manta(['why', instance, '-n', 'truth']);
    assert.match(why, /may be dead: no raylet is listening at[^]*running → stopped/);
  });

  it('so is a machine that lost its power', async () => {
    await steady.kill();
    await eventually('it is suspect', async () =>
      /\(steady\) may be dead: \S+ does not respond/.test(await bed.manta(['events', file, '--lines', '200'])),
    );
    await steady.boot();
    await eventually('Ray runs there again', () => rayletOf(steady) !== undefined);
    await eventually('Ray shows it', async () => /1 steady/.test(await onHead('ray status')));
  });
});
