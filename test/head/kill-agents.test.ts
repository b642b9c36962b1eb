// needs: cluster

/** Node agents are killed while jobs run on them: the head's own and the workers'. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, kill, seeded, seedOf, TestCluster, workersYaml } from './test-cluster.ts';

const jobCount = 40;
const kills = 8;
const budget = 20;

test('jobs on killed nodes are retried within their budget or fail truthfully, and nothing of them lives on', async (t) => {
  const random = seeded(seedOf(t, 'kill-agents.test.ts'));
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 6, max: 3 }) });
  const runs = join(cluster.home.path, 'runs');
  mkdirSync(runs);
  const retried = (index: number): boolean => index % 2 === 0;
  const idOf = (index: number): string => `job-${index}`;
  /** Says when an earlier attempt of the same job still runs, and when it runs and ends itself. */
  const entrypoint = (id: string): string => `
    for pid in $(cat ${runs}/${id}.pids 2>/dev/null); do
      grep -qsa MANTA_JOB_ID=${id} /proc/$pid/environ && echo overlap $pid >> ${runs}/${id}
    done
    echo $$ >> ${runs}/${id}.pids
    echo start $MANTA_JOB_ATTEMPT >> ${runs}/${id}
    setsid sleep 300 &
    for i in $(seq 1 20); do echo $i; sleep 0.1; done
    echo done $MANTA_JOB_ATTEMPT >> ${runs}/${id}`;

  for (let index = 0; index < jobCount; index++)
    await cluster.submit({
      id: idOf(index),
      entrypoint: entrypoint(idOf(index)),
      // Every fifth asks for nothing and runs on the head.
      ...(index % 5 === 0 ? {} : { resources: { CPU: 1 } }),
      ...(retried(index) ? { retries: { node_lost: budget } } : {}),
    });
  await eventually('a job runs', () => existsSync(join(runs, `${idOf(1)}.pids`)));
  for (let killed = 0; killed < kills; killed++) {
    await sleep(random() * 1_200);
    const agents = await eventually('there are agents', () => {
      const pids = [...cluster.agents().values()];
      return pids.length > 0 && pids;
    });
    kill(agents[Math.floor(random() * agents.length)] as number);
  }

  let lost = 0;
  for (let index = 0; index < jobCount; index++) {
    const id = idOf(index);
    const job = await cluster.finish(id);
    const said = existsSync(join(runs, id)) ? readFileSync(join(runs, id), 'utf8').trim().split('\n') : [];
    assert.ok(!said.some((line) => line.startsWith('overlap')), `${id} ran beside itself: ${said.join(', ')}`);
    const starts = said.filter((line) => line.startsWith('start '));
    assert.equal(new Set(starts).size, starts.length, `${id} ran an attempt twice: ${said.join(', ')}`);
    const causes = job.attempts.map((attempt) => attempt.cause);
    lost += causes.filter((cause) => cause === 'node-lost').length;
    if (job.state === 'succeeded') {
      assert.equal(causes.at(-1), 'succeeded');
      assert.ok(said.includes(`done ${job.attempts.length}`), `${id} succeeded and did not run to its end`);
      assert.equal((await cluster.log(id, job.attempts.length)).toString(), lines(20), id);
    } else {
      assert.ok(!retried(index), `${id} had retries left: ${job.message}`);
      assert.deepEqual([job.state, causes, job.errorType], ['failed', ['node-lost'], 'JOB_SUPERVISOR_ACTOR_DIED'], id);
    }
    for (const cause of causes.slice(0, -1)) assert.equal(cause, 'node-lost', `${id}: ${causes.join(', ')}`);
    if (!retried(index)) assert.equal(job.attempts.length, 1, id);
  }
  t.diagnostic(`${lost} attempts were lost with their nodes`);
  assert.ok(lost > 0, 'no kill hit a job');
  await eventually('no process of a job is left', () => cluster.home.jobProcesses().length === 0);
  await eventually('there is a head node again', async () =>
    (await cluster.nodes()).some((node) => node.kind === 'head' && node.status === 'running'),
  );
  const after = await cluster.submit({ entrypoint: 'true' });
  await cluster.reach(after.id, 'succeeded');
});

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
