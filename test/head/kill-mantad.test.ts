// needs: cluster

/** mantad is killed again and again while jobs of all kinds go through it. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../src/core/jobs/job.ts';
import { servingOf } from '../../src/state/serving.ts';
import { eventually, kill, seeded, seedOf, TestCluster, workersYaml } from './test-cluster.ts';

/** `npm run soak -- kill-mantad` takes 20, with 200 jobs. */
const kills = Number(process.env['MANTA_KILLS'] ?? 6);
const jobCount = 10 * kills;

interface Kind {
  readonly name: string;
  /** What the job does after it has written down that it runs. */
  readonly entrypoint: (id: string) => string;
  readonly extra?: Record<string, unknown>;
  readonly ends: Job['state'];
  /** Attempts that must have run, each exactly once. */
  readonly runs: number;
  readonly exitCode?: number;
  /** Output of each attempt, to the byte; undefined where the moment of its end decides. */
  readonly output: (id: string, attempt: number) => string | undefined;
}

const numbers = (id: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${id} ${index + 1}\n`).join('');

const kinds: readonly Kind[] = [
  {
    name: 'short',
    entrypoint: (id) => `echo ${id} out; echo ${id} err >&2`,
    ends: 'succeeded',
    runs: 1,
    exitCode: 0,
    output: (id) => `${id} out\n${id} err\n`,
  },
  {
    name: 'failing',
    entrypoint: (id) => `printf '${id} no newline'; exit 3`,
    ends: 'failed',
    runs: 1,
    exitCode: 3,
    output: (id) => `${id} no newline`,
  },
  {
    name: 'burst',
    entrypoint: (id) => `seq 1 20000 | sed 's/^/${id} /'`,
    ends: 'succeeded',
    runs: 1,
    exitCode: 0,
    output: (id) => numbers(id, 20_000),
  },
  {
    name: 'slow',
    entrypoint: (id) => `for i in $(seq 1 15); do echo ${id} $i; sleep 0.2; done`,
    ends: 'succeeded',
    runs: 1,
    exitCode: 0,
    output: (id) => numbers(id, 15),
  },
  {
    name: 'flaky',
    entrypoint: (id) => `echo ${id} $MANTA_JOB_ATTEMPT; [ $MANTA_JOB_ATTEMPT -ge 3 ] || exit 9`,
    extra: { retries: { failed: 2 } },
    ends: 'succeeded',
    runs: 3,
    exitCode: 0,
    output: (id, attempt) => `${id} ${attempt}\n`,
  },
  {
    name: 'endless',
    entrypoint: () => `(trap '' TERM; sleep 1000) & sleep 1000`,
    ends: 'stopped',
    runs: 1,
    output: () => undefined,
  },
];

test(`${jobCount} mixed jobs survive ${kills} kills of mantad: none lost, none run twice, every byte of output kept`, async (t) => {
  const random = seeded(seedOf(t, 'kill-mantad.test.ts'));
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 10, max: 2 }) });
  const runs = join(cluster.home.path, 'runs');
  mkdirSync(runs);
  const kindOf = (index: number): Kind => kinds[index % kinds.length] as Kind;
  const idOf = (index: number): string => `${kindOf(index).name}-${index}`;

  const submitAll = async (): Promise<void> => {
    for (let index = 0; index < jobCount; index++) {
      const [kind, id] = [kindOf(index), idOf(index)];
      // Every tenth waits for one that has gone before it.
      const needs = index % 10 === 9 && index > 20 ? idOf(index - 12) : undefined;
      await cluster.submit({
        id,
        entrypoint: `echo $MANTA_JOB_ATTEMPT >> ${runs}/${id}; ${kind.entrypoint(id)}`,
        ...(index % 4 === 0 ? {} : { resources: { CPU: 1 } }),
        ...kind.extra,
        ...(needs === undefined ? {} : { depends_on: [needs] }),
      });
      await sleep(random() * 120);
    }
  };
  const stopEndless = async (): Promise<void> => {
    for (let index = 0; index < jobCount; index++) {
      if (kindOf(index).name !== 'endless' || isDoomed(index)) continue;
      const id = idOf(index);
      await eventually(`${id} runs`, () => existsSync(join(runs, id)));
      await sleep(random() * 50);
      await cluster.ask('POST', `/api/manta/v1/jobs/${id}/stop`);
    }
  };
  /** Depends on a job that does not succeed: it must fail without ever running. */
  const isDoomed = (index: number): boolean => {
    if (index % 10 !== 9 || index <= 20) return false;
    return kindOf(index - 12).ends !== 'succeeded' || isDoomed(index - 12);
  };

  let killed = 0;
  const killAgainAndAgain = async (): Promise<void> => {
    let last: number | undefined;
    let early = 0;
    while (killed < kills) {
      const pid = await eventually('mantad is back', () => (cluster.mantad !== last ? cluster.mantad : undefined));
      // From its first moment on, while it starts and while it serves.
      await sleep(random() * 1_200);
      const serves = (): boolean => servingOf(cluster.folder)?.mantad.pid === pid;
      // The more of them in a row die before they serve, the longer the supervisor waits.
      if (early === 2) await eventually('it serves', serves);
      early = serves() ? 0 : early + 1;
      kill(pid);
      killed += 1;
      last = pid;
    }
  };
  const submitting = submitAll();
  await Promise.all([submitting, stopEndless(), killAgainAndAgain()]);
  assert.equal(killed, kills);

  for (let index = 0; index < jobCount; index++) {
    const [kind, id] = [kindOf(index), idOf(index)];
    const job = await cluster.finish(id);
    const ran = existsSync(join(runs, id)) ? readFileSync(join(runs, id), 'utf8').trim().split('\n') : [];
    if (isDoomed(index)) {
      assert.deepEqual([job.state, job.attempts.length, ran], ['failed', 0, []], id);
      continue;
    }
    assert.equal(job.state, kind.ends, `${id}: ${job.message}`);
    const numbersOfRuns = Array.from({ length: kind.runs }, (_, each) => String(each + 1));
    assert.deepEqual(ran, numbersOfRuns, `${id} ran once for each of its attempts`);
    assert.equal(job.attempts.length, kind.runs, `${id}: ${JSON.stringify(job.attempts)}`);
    if (kind.exitCode !== undefined) assert.equal(job.exitCode, kind.exitCode, id);
    for (const { number } of job.attempts) {
      const expected = kind.output(id, number);
      if (expected === undefined) continue;
      const log = await cluster.log(id, number);
      assert.ok(
        log.equals(Buffer.from(expected)),
        `${id}, attempt ${number}: ${log.length} of ${expected.length} bytes`,
      );
    }
  }
  const { total } = await cluster.get<{ total: number }>('/jobs?limit=1');
  assert.equal(total, jobCount);
  assert.deepEqual(cluster.home.jobProcesses(), []);
  assert.equal((await cluster.down()).code, 0);
  assert.deepEqual(cluster.home.processes(), []);
});
