// needs: cluster, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabCloud } from '../../lab/cloud/open.ts';
import { seeded, seedOf } from '../head/test-cluster.ts';
import { clusterProblem, eventually } from './cluster-bed.ts';
import { openCloudBed } from './scaling/cloud-site.ts';
import { eventLines } from './scaling/judge.ts';
import type { RayBed } from './scaling/ray-bed.ts';

/** `npm run soak -- kills` has more of them. */
const rounds = Number(process.env['MANTA_KILL_ROUNDS'] ?? 5);
const pieces = 2;

describe('mantad that is killed while real Ray scales and works', { skip: clusterProblem() ?? false }, () => {
  let opened: Awaited<ReturnType<typeof openCloudBed>> | undefined;
  before(async () => {
    opened = await openCloudBed();
  });
  after(() => opened?.close());

  it(`launches nothing twice, loses no worker and no job, and tells Ray the truth again, ${rounds} times`, async (t) => {
    const random = seeded(seedOf(t, 'scaling-kills.test.ts', 'test/lab'));
    const { bed, cloud } = opened!;
    const mark = await bed.site.mark();
    const from = await bed.lastEvent();
    try {
      for (let round = 1; round <= rounds; round++) {
        const since = await bed.site.mark();
        await playRound(bed, round, random);
        const asked = await askedFor(cloud, since);
        assert.ok(asked <= pieces + 1, `${asked} instances asked for in round ${round}`);
      }
      await eventually('no worker is left', async () => (await bed.workers()).length === 0);
      await eventually('nothing of it is left', async () => {
        assert.deepEqual(await bed.site.problems(mark), []);
        return true;
      });
      for (let round = 1; round <= rounds; round++) await ranOnce(bed, jobOf(round));
    } catch (error) {
      const told = await bed.events(from).then(eventLines, () => '(no events)');
      throw new Error(`${(error as Error).message}\nWhat the cluster did:\n${told}`, { cause: error });
    }
  });
});

/** Instances that were asked for, under whatever token; the same token is the same launch. */
async function askedFor(cloud: LabCloud, since: number): Promise<number> {
  const launches = await cloud.admin.calls({ since, call: 'launch' });
  const counts = new Map(launches.map(({ asked }) => [asked?.token, asked?.count ?? 0]));
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

const jobOf = (round: number): string => `job-${round}`;

/** Work for new workers and a job of the queue; then mantad dies, wherever it is with them. */
async function playRound(bed: RayBed, round: number, random: () => number): Promise<void> {
  const { turnstile, driver } = bed;
  const order = driver.make({ kind: 'tasks', count: pieces, cpus: 2 });
  const submitted = submit(bed, jobOf(round));
  await sleep(random() * 8_000);
  await bed.killMantad();
  await eventually('ray status is true again', async () => {
    const workers = await bed.workers();
    const running = workers.filter(({ node, status }) => node !== undefined && status === 'running').length;
    return (await workersByRay(bed)) === running;
  });
  await submitted;
  await eventually('all work has a place', () => turnstile.places(order.number).size === pieces);
  // Those that work, one for the job, and one for the job of the round before at most.
  const workers = await bed.workers();
  assert.ok(workers.length <= pieces + 2, `${workers.length} workers in round ${round}`);
  turnstile.letGo(order.number);
  assert.equal((await order.done).length, pieces);
}

async function submit({ user, site }: RayBed, id: string): Promise<void> {
  const how = ['-n', site.cluster, '--no-wait', '--submission-id', id, '--entrypoint-num-cpus', '1'];
  await user.manta(['job', 'submit', ...how, '--', 'sh', '-c', `echo ${id} ran; sleep 1`], { env: site.env });
}

async function ranOnce({ user, site }: RayBed, id: string): Promise<void> {
  const at = ['-n', site.cluster, id];
  await user.manta(['job', 'wait', ...at], { env: site.env });
  assert.equal(await user.manta(['job', 'logs', ...at], { env: site.env }), `${id} ran\n`);
}

/** Workers that `ray status` counts as there. */
async function workersByRay({ user, site }: RayBed): Promise<number> {
  const status = await user.manta(['exec', `${site.cluster}.yaml`, 'ray status'], { env: site.env });
  const [, there = ''] = /Active:\n([^]*?)\nPending:/.exec(status) ?? [];
  return [...there.matchAll(/^ (\d+) (\S+)$/gm)]
    .filter(([, , type]) => type !== 'head')
    .reduce((sum, [, count]) => sum + Number(count), 0);
}
