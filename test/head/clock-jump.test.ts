// needs: cluster, faketime

/** The clock of the machine is set an hour ahead and an hour back while the cluster works. */
import assert from 'node:assert/strict';
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '../../src/core/jobs/job.ts';
import { eventually, kill, TestCluster, workersYaml } from './test-cluster.ts';

const library = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
const hour = 3_600;

test('a clock that jumps an hour either way, mantad restarted or not, ends nothing and loses nothing', async (t) => {
  if (library === undefined) {
    t.skip('optional here: libfaketime is not installed (apt-get install faketime)');
    return;
  }
  const offsets = join(tmpdir(), `manta-clock-${process.pid}`);
  writeFileSync(offsets, '+0');
  t.after(() => rmSync(offsets, { force: true }));
  const jump = (seconds: number): void => writeFileSync(offsets, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`);
  const cluster = await TestCluster.start(t, {
    yaml: workersYaml({ cpus: 4, min: 1, max: 3, idleSeconds: 600 }),
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: offsets,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
  });
  const { now } = await cluster.get<{ now: number }>('/cluster');
  const go = join(cluster.home.path, 'go');
  const waiting = `while [ ! -e ${go} ]; do sleep 0.05; done`;
  await cluster.submit({ id: 'limited', entrypoint: waiting, resources: { CPU: 4 }, time_limit_s: 1_200 });
  await cluster.submit({ id: 'second', entrypoint: waiting, resources: { CPU: 4 } });
  // This one makes a third node, which then is idle and must not be taken for one that has been idle for an hour.
  const third = await cluster.submit({ entrypoint: 'true', resources: { CPU: 4 } });
  await cluster.reach('limited', 'running');
  await cluster.reach('second', 'running');
  await cluster.reach(third.id, 'succeeded');
  const agents = pidsOf(cluster);
  assert.equal(agents.length, 4);

  for (const seconds of [hour, -hour]) {
    const seen = (await cluster.events()).at(-1)?.seq ?? 0;
    jump(seconds);
    await eventually('mantad sees the new time', async () => {
      const { now: told } = await cluster.get<{ now: number }>('/cluster');
      return Math.sign(told - now - (seconds * 1000) / 2) === Math.sign(seconds);
    });
    // A pause that was fixed before the jump back must not last an hour, and a new one neither.
    const flaky = await cluster.submit({ entrypoint: '[ $MANTA_JOB_ATTEMPT -ge 2 ]', retries: { failed: 1 } });
    assert.deepEqual(causes(await cluster.finish(flaky.id)), ['failed', 'succeeded']);
    await passes(cluster);
    assert.deepEqual(pidsOf(cluster), agents, `after ${seconds} s`);

    const before = cluster.mantad as number;
    kill(before);
    await eventually(
      'another mantad serves',
      async () => cluster.mantad !== before && (await cluster.ask('GET', '/readyz')).status === 200,
    );
    await passes(cluster);
    assert.deepEqual(pidsOf(cluster), agents, `after ${seconds} s and a restart`);
    for (const id of ['limited', 'second']) {
      const job = await cluster.job(id);
      assert.deepEqual([job.state, job.attempts.length], ['running', 1], `${id} after ${seconds} s: ${job.message}`);
    }
    const ended = (await cluster.events()).filter((event) => event.seq > seen && event.code.endsWith('ENDING'));
    assert.deepEqual(
      ended.filter((event) => event.code !== 'MANTA_HEAD_ENDING'),
      [],
    );
    jump(0);
  }
  writeFileSync(go, '');
  for (const id of ['limited', 'second']) assert.deepEqual(causes(await cluster.finish(id)), ['succeeded']);
});

const pidsOf = (cluster: TestCluster): number[] => [...cluster.agents().values()].sort((a, b) => a - b);
const causes = (job: Job): (string | undefined)[] => job.attempts.map((attempt) => attempt.cause);

/** Lets the loop look at the cluster a few times more. */
async function passes(cluster: TestCluster): Promise<void> {
  const count = async (): Promise<number> => {
    const { body } = await cluster.ask('GET', '/metrics');
    return Number(/autoscaler_update_time_seconds_count\S* (\d+)/.exec(String(body))?.[1] ?? 0);
  };
  const seen = await count();
  for (let more = 1; more <= 3; more++) {
    const done = await cluster.submit({ entrypoint: 'true' });
    await cluster.finish(done.id);
  }
  await eventually('the loop has looked again', async () => (await count()) >= seen + 3);
}
