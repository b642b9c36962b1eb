// needs: older-manta, ray, hosts
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ExecResult } from '../../lab/lab.ts';
import { version } from '../../src/base/version.ts';
import { ClusterBed, clusterProblem, eventually, leftOn, program, rayletOf, smallRay } from '../lab/cluster-bed.ts';
import { deadlyMantad, oldPackage, oldVersion } from './packages.ts';

const older = '/opt/manta-older/bin/manta';
const broken = '/opt/manta-broken/bin/manta';
const file = 'grown.yaml';

describe('a cluster of own hosts that the older version made', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let raylets: (number | undefined)[];
  const run = (manta: string, ...words: readonly string[]): Promise<ExecResult> =>
    bed.laptop.exec([manta, ...words], { user: bed.user, within: 600_000 });
  const stateOf = async (job: string): Promise<string> =>
    ((await bed.manta(['--json', 'job', 'status', '-n', 'grown', job])).match(/"state":"(\w+)"/) ?? [])[1] ?? '';

  before(async () => {
    bed = await ClusterBed.open({ hosts: 2, ray: true, user: 'ada' });
    const opt = join(bed.laptop.root, 'opt');
    cpSync(oldPackage(), join(opt, 'manta-older'), { recursive: true });
    cpSync(join(opt, 'manta'), join(opt, 'manta-broken'), { recursive: true });
    writeFileSync(join(opt, 'manta-broken', 'dist', 'mantad.js'), deadlyMantad);
    await bed.laptop.must('chmod -R a+rX /opt/manta-older /opt/manta-broken', { user: 'root' });
    bed.write(
      file,
      `cluster_name: grown
provider: {type: local, head_ip: h1, worker_ips: [h2]}
auth: {ssh_user: ada, ssh_private_key: ~/.ssh/id_ed25519}
min_workers: 1
max_workers: 1
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${smallRay}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${smallRay}
`,
    );
    const up = await run(older, 'up', '-y', file);
    assert.equal(up.code, 0, up.stderr);
    raylets = bed.lab.hosts.map(rayletOf);
    const job = 'echo begun; while [ ! -e ~/go ]; do sleep 0.2; done; echo ended';
    const submitted = await run(
      older,
      'job',
      'submit',
      '-n',
      'grown',
      '--submission-id',
      'runs',
      '--no-wait',
      '--',
      job,
    );
    assert.equal(submitted.code, 0, submitted.stderr);
    await eventually('the job runs', async () =>
      (await run(older, 'job', 'list', '-n', 'grown')).stdout.includes('running'),
    );
  });
  after(() => bed?.close());

  it('is told of in one line that it is of another version, and is used all the same', async () => {
    const { code, stdout, stderr } = await run(program, 'status', '-n', 'grown');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Active/);
    assert.equal(stderr.split(`runs Manta ${oldVersion}, older than ${version} here`).length, 2, stderr);
  });

  it('goes on under the older version where the new one does not come up', async () => {
    const { code, stderr } = await run(broken, 'up', '-y', file);
    assert.equal(code, 6, stderr);
    assert.match(stderr, new RegExp(`did not start.*rolled back to ${oldVersion}`));
    const { stdout } = await eventually('the older version answers', async () => {
      const asked = await run(older, 'job', 'list', '-n', 'grown');
      return asked.code === 0 && asked;
    });
    assert.match(stdout, /runs\s+running/);
  });

  it('is upgraded after the plan said so, with its nodes and its jobs as they were', async () => {
    const planned = await run(program, 'up', file, '--plan');
    assert.match(planned.stdout, new RegExp(`upgrade  mantad ${oldVersion} to ${version}`));
    const up = await run(program, 'up', '-y', file);
    assert.equal(up.code, 0, up.stderr);
    assert.deepEqual(bed.lab.hosts.map(rayletOf), raylets, 'Ray was not touched');
    assert.equal(await stateOf('runs'), 'running');
    const asked = await run(older, 'status', '-n', 'grown');
    assert.equal(asked.code, 0, 'the older client is still served');
  });

  it('ends its job under the new version, and leaves nothing behind', async () => {
    await bed.on(bed.head, 'touch ~/go');
    await eventually('the job is over', async () => (await stateOf('runs')) === 'succeeded');
    assert.equal(await bed.manta(['job', 'logs', '-n', 'grown', 'runs']), 'begun\nended\n');
    await bed.manta(['down', '-y', file]);
    for (const host of bed.lab.hosts) assert.deepEqual(await leftOn(bed, host, 'grown'), [], host.name);
  });
});
