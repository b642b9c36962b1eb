import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import type { Job } from '../../src/core/jobs/job.ts';
import { jobErrors } from '../../src/jobs/errors.ts';
import type { Submission } from '../../src/jobs/queue/submission.ts';
import { until as becomesTrue } from '../contract/waiting.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { type Bed, type BedOptions, makeBed } from './queue-bed.ts';

const beds: Bed[] = [];
after(async () => {
  for (const bed of beds) await bed.remove();
});

async function bedWith(
  options: Partial<BedOptions> & { cpus?: number } = {},
): Promise<Bed & { clock: ManualClock; runner: FakeRunner }> {
  const clock = (options.clock as ManualClock | undefined) ?? new ManualClock();
  const runner = (options.runner as FakeRunner | undefined) ?? new FakeRunner(clock, options.cpus ?? 4);
  const bed = await makeBed({ ...options, clock, runner });
  beds.push(bed);
  return Object.assign(bed, { clock, runner });
}

const cpu = (id: string, more: Partial<Submission> = {}): Submission => ({
  id,
  user: 'ada',
  entrypoint: 'true',
  resources: { CPU: 1 },
  ...more,
});
const until = (holds: () => boolean): Promise<boolean> => becomesTrue(holds.toString(), holds);
const stateOf = (bed: Bed, id: string): string | undefined => bed.queue.get(id)?.state;
const never = new AbortController().signal;

test('a job is on disk, runs, and its end is told', async () => {
  const bed = await bedWith();
  const submitted = await bed.queue.submit(cpu('a'));
  assert.equal(submitted.state, 'queued');
  await until(() => stateOf(bed, 'a') === 'running');
  const waited = bed.queue.wait('a', never);
  bed.runner.finish('a.1', 'succeeded');
  assert.equal((await waited).state, 'succeeded');
  await until(() => !bed.runner.knows('a.1'));
  assert.equal(bed.runner.orders[0]?.own['MANTA_JOB_ID'], 'a');
});

test('a job that is retried while somebody deletes it stays, with its output', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.finish('a.1', 'failed', 1, 'output');
  await until(() => stateOf(bed, 'a') === 'failed');
  const retried = bed.queue.retry('a');
  await assert.rejects(bed.queue.delete('a'), (error) => jobErrors.NotOver.is(error));
  await retried;
  assert.equal((await bed.logs.read('a', 1, 0, 100)).bytes.toString(), 'output');
});

test('what has no room waits as demand and starts when room comes', async () => {
  const bed = await bedWith({ cpus: 1 });
  for (const id of ['a', 'b', 'c']) await bed.queue.submit(cpu(id));
  await until(() => stateOf(bed, 'a') === 'running');
  assert.deepEqual(
    bed.queue.demand().tasks.map((task) => task.count),
    [2],
  );
  assert.equal(bed.queue.blockOf('b'), 'no-room');
  bed.runner.cpus = 3;
  bed.queue.poke();
  await until(() => stateOf(bed, 'c') === 'running');
  assert.deepEqual(bed.queue.demand().tasks, []);
});

test('a node that comes unannounced is noticed within a second', async () => {
  const bed = await bedWith({ cpus: 0 });
  await bed.queue.submit(cpu('a'));
  await settle();
  bed.runner.cpus = 1;
  await bed.clock.advance(1_100);
  await until(() => stateOf(bed, 'a') === 'running');
});

test('a job that no node type can hold is refused at once with the reason', async () => {
  const bed = await bedWith({ types: [{ name: 'small', resources: { CPU: 4 }, labels: {}, atMost: 9 }] });
  await assert.rejects(
    bed.queue.submit(cpu('a', { resources: { CPU: 5 } })),
    (error) => jobErrors.Infeasible.is(error) && /nearest is 'small'/.test(error.message),
  );
  assert.equal(bed.queue.get('a'), undefined);
});

test('the same id is refused, or harmless when the work is the same', async () => {
  const bed = await bedWith();
  const first = await bed.queue.submit(cpu('a'));
  await assert.rejects(bed.queue.submit(cpu('a')), (error) => jobErrors.Exists.is(error));
  const again = await bed.queue.submit(cpu('a'), 'same');
  assert.equal(again.submittedAt, first.submittedAt);
  await assert.rejects(bed.queue.submit(cpu('a', { entrypoint: 'false' }), 'same'), (error) =>
    jobErrors.Exists.is(error),
  );
  const both = await Promise.allSettled([bed.queue.submit(cpu('b')), bed.queue.submit(cpu('b'))]);
  assert.deepEqual(both.map((each) => each.status).sort(), ['fulfilled', 'rejected']);
});

test('a queue that is full says so', async () => {
  const bed = await bedWith({ cpus: 0, limits: { queued: 3, queuedPerUser: 2 } });
  await bed.queue.submit(cpu('a'));
  await bed.queue.submit(cpu('b'));
  await assert.rejects(
    bed.queue.submit(cpu('c')),
    (error) => jobErrors.QueueFull.is(error) && error.data.scope === 'user',
  );
  await bed.queue.submit(cpu('d', { user: 'bob' }));
  await assert.rejects(bed.queue.submit(cpu('e', { user: 'bob' })), (error) => jobErrors.QueueFull.is(error));
  assert.equal((await bed.queue.submit(cpu('b'), 'same')).id, 'b', 'what was taken before is not judged again');
});

test('a queue that is closed takes no job and starts none again', async () => {
  const bed = await bedWith({ cpus: 0 });
  await bed.queue.submit(cpu('a'));
  await bed.queue.close();
  await assert.rejects(bed.queue.submit(cpu('b')), (error) => jobErrors.Closed.is(error));
  await assert.rejects(bed.queue.retry('a'), (error) => jobErrors.Closed.is(error));
});

test('stop works while queued, held, starting, running and stopping', async () => {
  const bed = await bedWith({ cpus: 1 });
  await bed.queue.submit(cpu('running'));
  await until(() => stateOf(bed, 'running') === 'running');
  await bed.queue.submit(cpu('queued'));
  await bed.queue.submit(cpu('held', { startAfter: bed.clock.now() + 1e6 }));
  for (const id of ['queued', 'held']) assert.deepEqual((await bed.queue.stop(id)).job.state, 'stopped');
  assert.equal((await bed.queue.stop('running')).stopped, true);
  assert.equal((await bed.queue.stop('running')).stopped, true);
  await until(() => stateOf(bed, 'running') === 'stopped');
  assert.equal((await bed.queue.stop('running')).stopped, false);
  bed.runner.auto = false;
  await bed.queue.submit(cpu('starting'));
  await until(() => stateOf(bed, 'starting') === 'starting');
  await bed.queue.stop('starting');
  await until(() => stateOf(bed, 'starting') === 'stopped');
  await assert.rejects(bed.queue.stop('nobody'), (error) => jobErrors.NotFound.is(error));
});

test('a stop whose order or answer is lost is repeated until the job is over', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.fail('stop');
  await bed.queue.stop('a');
  await bed.clock.advance(5_000);
  await until(() => stateOf(bed, 'a') === 'stopped');
});

test('a start whose answer is lost runs once', async () => {
  const bed = await bedWith();
  bed.runner.loseAnswer('start');
  bed.runner.fail('start');
  await bed.queue.submit(cpu('a'));
  await bed.clock.advance(60_000);
  await until(() => stateOf(bed, 'a') === 'running');
  assert.equal(bed.runner.starts.get('a.1'), 1);
});

test('retries follow by cause, with a pause, and a job can be retried by hand', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a', { retries: { failed: 1, nodeLost: 1 } }));
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.finish('a.1', 'node-lost');
  await until(() => bed.queue.get('a')?.attempts.length === 2 && stateOf(bed, 'a') === 'running');
  bed.runner.finish('a.2', 'failed', 2, 'first\nboom\n');
  await until(() => stateOf(bed, 'a') === 'held');
  await bed.clock.advance(2_000);
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.finish('a.3', 'failed', 3, 'boom again\n');
  await until(() => stateOf(bed, 'a') === 'failed');
  const job = bed.queue.get('a') as Job;
  assert.equal(job.exitCode, 3);
  assert.match(job.message, /exit code 3, last available logs \(truncated to 20,000 chars\):\nboom again\n$/);
  await bed.queue.retry('a');
  await until(() => stateOf(bed, 'a') === 'running');
  await assert.rejects(bed.queue.retry('a'), (error) => jobErrors.NotOver.is(error));
});

test('dependencies are waited for, and fail what waits for them', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await bed.queue.submit(cpu('b', { dependsOn: ['a'] }));
  await bed.queue.submit(cpu('c', { dependsOn: ['b'] }));
  await assert.rejects(bed.queue.submit(cpu('d', { dependsOn: ['x'] })), (error) => jobErrors.Invalid.is(error));
  await until(() => stateOf(bed, 'a') === 'running');
  assert.equal(stateOf(bed, 'b'), 'held');
  bed.runner.finish('a.1');
  await until(() => stateOf(bed, 'b') === 'running');
  await assert.rejects(bed.queue.delete('a'), (error) => jobErrors.Needed.is(error));
  bed.runner.finish('b.1', 'failed');
  await until(() => stateOf(bed, 'c') === 'failed');
  assert.match(bed.queue.get('c')?.message ?? '', /'b', which it depends on, failed/);
});

test('a delay is kept, and a time limit ends the attempt with that reason', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a', { startAfter: bed.clock.now() + 60_000, timeLimit: 10_000 }));
  await bed.clock.advance(59_000);
  assert.equal(stateOf(bed, 'a'), 'held');
  await bed.clock.advance(2_500);
  await until(() => stateOf(bed, 'a') === 'running');
  await bed.clock.advance(11_000);
  await until(() => stateOf(bed, 'a') === 'failed');
  assert.equal(bed.queue.get('a')?.attempts[0]?.cause, 'time-limit');
});

test('a clock that jumps an hour either way ends nothing', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a', { timeLimit: 600_000, retries: { failed: 1 } }));
  await until(() => stateOf(bed, 'a') === 'running');
  for (const jump of [3_600_000, -7_200_000]) {
    bed.clock.set(bed.clock.now() + jump);
    await bed.clock.advance(20_000);
    assert.equal(stateOf(bed, 'a'), 'running');
  }
  bed.runner.finish('a.1', 'failed');
  await until(() => stateOf(bed, 'a') === 'held');
  bed.clock.set(bed.clock.now() - 3_600_000);
  await bed.clock.advance(2_000);
  await until(() => stateOf(bed, 'a') === 'running');
});

test('a schedule submits a numbered copy at each firing, and not while the last one runs', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('tick', { cron: '* * * * *' }));
  await bed.clock.advance(61_000);
  await until(() => stateOf(bed, 'tick-1') === 'running');
  await bed.clock.advance(60_000);
  assert.equal(bed.queue.get('tick-2'), undefined);
  bed.runner.finish('tick-1.1');
  await bed.clock.advance(60_000);
  await until(() => stateOf(bed, 'tick-2') === 'running');
  await bed.queue.stop('tick');
  bed.runner.finish('tick-2.1');
  await bed.clock.advance(180_000);
  assert.equal(bed.queue.get('tick-3'), undefined);
});

test('an environment that cannot be set up fails the job with its reason in the log', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a', { runtimeEnv: { working_dir: 'gcs://_ray_pkg_1.zip' } }));
  await bed.queue.submit(cpu('b', { runtimeEnv: { py_modules: ['gcs://_ray_pkg_2.zip'] } }));
  await assert.rejects(bed.queue.submit(cpu('c', { runtimeEnv: { conda: 'x' } })), (error) =>
    jobErrors.Invalid.is(error),
  );
  assert.equal(bed.queue.get('c'), undefined);
  for (const id of ['a', 'b']) {
    await until(() => stateOf(bed, id) === 'failed');
    assert.equal(bed.queue.get(id)?.errorType, 'RUNTIME_ENV_SETUP_FAILURE');
    const log = await bed.logs.read(id, 1, 0, 1000);
    assert.ok(log.bytes.length > 0 && (await bed.logs.extent(id, 1)).ended, id);
  }
  assert.equal(bed.runner.orders.length, 0);
});

test('trouble of the head that does not go ends a job, and a full disk is waited out', async (t) => {
  const bed = await bedWith();
  const troubles = { long: 'ENAMETOOLONG', full: 'ENOSPC' };
  const opened = { long: 0, full: 0 };
  t.mock.method(bed.packages, 'open', async (_: string, uri: string) => {
    const id = uri.includes('long') ? 'long' : 'full';
    opened[id] += 1;
    throw Object.assign(new Error(`${troubles[id]}: no luck`), { code: troubles[id] });
  });
  for (const id of ['long', 'full'])
    await bed.queue.submit(cpu(id, { runtimeEnv: { working_dir: `https://x.invalid/${id}.zip` } }));
  for (let minute = 0; minute < 30; minute++) await bed.clock.advance(60_000);
  assert.equal(stateOf(bed, 'long'), 'failed');
  assert.equal(bed.queue.get('long')?.errorType, 'RUNTIME_ENV_SETUP_FAILURE');
  assert.match((await bed.logs.read('long', 1, 0, 1000)).bytes.toString(), /ENAMETOOLONG/);
  assert.equal(opened.long, 10);
  assert.equal(stateOf(bed, 'full'), 'queued');
  assert.ok(opened.full > 10, `${opened.full} tries`);
});

/** A job whose package is not at the engine yet when it is handed over. */
async function travelling(bed: Bed & { runner: FakeRunner }, id: string): Promise<void> {
  const name = 'large-1-py3-none-any.whl';
  await bed.packages.put('ada', name, Readable.from([Buffer.from('wheel')]));
  bed.runner.travelling.set(`${id}.1`, Promise.withResolvers());
  await bed.queue.submit(cpu(id, { runtimeEnv: { py_modules: [`gcs://${name}`] } }));
  await until(() => stateOf(bed, id) === 'starting');
}

test('a package on its way to the engine keeps its room and holds nobody up', async () => {
  const bed = await bedWith({ cpus: 3 });
  await travelling(bed, 'large');
  await bed.queue.submit(cpu('small'));
  await until(() => stateOf(bed, 'small') === 'running');
  await bed.queue.submit(cpu('later', { startAfter: bed.clock.now() + 5_000 }));
  await bed.clock.advance(6_000);
  await until(() => stateOf(bed, 'later') === 'running');
  await bed.queue.submit(cpu('fourth'));
  await bed.clock.advance(2_000);
  assert.deepEqual([stateOf(bed, 'large'), stateOf(bed, 'fourth')], ['starting', 'queued']);
  bed.runner.arrives('large.1');
  await until(() => stateOf(bed, 'large') === 'running');
});

test('a stop does not wait for a package on its way', async () => {
  const bed = await bedWith();
  await travelling(bed, 'large');
  await bed.queue.stop('large');
  await until(() => stateOf(bed, 'large') === 'stopped');
  assert.equal(bed.queue.get('large')?.startedAt, undefined);
});

test('an attempt whose package was on its way when mantad died begins once', async () => {
  const bed = await bedWith();
  await travelling(bed, 'large');
  bed.runner.lose('large.1');
  bed.runner.travelling.get('large.1')?.reject(new Error('mantad is gone'));
  bed.runner.travelling.clear();
  await bed.crash();
  await until(() => stateOf(bed, 'large') === 'running');
  assert.deepEqual([bed.queue.get('large')?.attempts.length, bed.runner.knows('large.1')], [1, true]);
});

test('deleting needs the end, and takes the output along', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  await assert.rejects(bed.queue.delete('a'), (error) => jobErrors.NotOver.is(error));
  bed.runner.finish('a.1', 'succeeded', 0, 'hello');
  await until(() => stateOf(bed, 'a') === 'succeeded');
  await bed.queue.delete('a');
  assert.equal(bed.queue.get('a'), undefined);
  assert.equal((await bed.logs.extent('a', 1)).size, 0);
  await bed.crash();
  assert.equal(bed.queue.get('a'), undefined);
});

test('after a crash running jobs are adopted, missed ends are taken up, and nothing runs twice', async () => {
  const bed = await bedWith({ cpus: 8 });
  for (const id of ['runs', 'ended', 'gone']) await bed.queue.submit(cpu(id));
  await until(() => ['runs', 'ended', 'gone'].every((id) => stateOf(bed, id) === 'running'));
  bed.runner.mute = true;
  bed.runner.finish('ended.1', 'failed', 7, 'last words\n');
  bed.runner.lose('gone.1');
  bed.runner.mute = false;
  await bed.crash();
  assert.equal(stateOf(bed, 'runs'), 'running');
  await until(() => stateOf(bed, 'ended') === 'failed' && stateOf(bed, 'gone') === 'failed');
  assert.equal(bed.queue.get('ended')?.exitCode, 7);
  assert.equal(bed.queue.get('gone')?.attempts[0]?.cause, 'node-lost');
  assert.ok((await bed.logs.extent('gone', 1)).ended);
  bed.runner.finish('runs.1');
  await until(() => stateOf(bed, 'runs') === 'succeeded');
  assert.deepEqual([...bed.runner.starts.values()], [1, 1, 1]);
});

test('a crash between journal and start is made good by starting the same attempt', async () => {
  const bed = await bedWith();
  bed.runner.fail('start');
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'starting');
  await bed.crash();
  await until(() => stateOf(bed, 'a') === 'running');
  assert.equal(bed.runner.starts.get('a.1'), 1);
});

test('an engine that does not answer at first is asked again, and nothing is declared lost meanwhile', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.fail('attempts');
  bed.runner.fail('attempts');
  const back = bed.crash();
  await settle();
  assert.equal(stateOf(bed, 'a'), 'running');
  await bed.clock.advance(1_000);
  await back;
  assert.equal(stateOf(bed, 'a'), 'running');
});

test('an attempt that belongs to no job is ended', async () => {
  const bed = await bedWith();
  await bed.runner.start({
    id: 'stray.1',
    job: 'stray',
    number: 1,
    entrypoint: 'x',
    env: {},
    own: {},
    metadata: {},
    environment: {},
    setup: [],
    resources: { CPU: 1 },
    labels: {},
    log: `${bed.folder}/stray`,
  });
  await until(() => bed.runner.stops.includes('stray.1'));
  await until(() => !bed.runner.knows('stray.1'));
});

test('a job that was being stopped when mantad died is stopped', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  bed.runner.fail('stop');
  await bed.queue.stop('a');
  await bed.crash();
  await bed.clock.advance(2_000);
  await until(() => stateOf(bed, 'a') === 'stopped');
});

test('a disk that is full refuses submissions, loses no end of a job, and all goes on when there is room', async () => {
  const bed = await bedWith();
  await bed.queue.submit(cpu('a'));
  await until(() => stateOf(bed, 'a') === 'running');
  const pages = Number(bed.database.sql.prepare('PRAGMA page_count').get()?.['page_count']);
  bed.database.sql.exec(`PRAGMA max_page_count = ${pages}`);
  await assert.rejects(bed.queue.submit(cpu('b', { entrypoint: `true ${'x'.repeat(60_000)}` })), /no room/);
  assert.equal(bed.queue.get('b'), undefined);
  bed.runner.finish('a.1');
  bed.database.sql.exec('PRAGMA max_page_count = 1000000');
  await bed.clock.advance(5_000);
  await until(() => stateOf(bed, 'a') === 'succeeded');
});

test('crashes at random moments lose nothing and run nothing twice', async () => {
  const seed = Number(process.env['MANTA_SEED'] ?? 20260115);
  let state = seed;
  const random = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const bed = await bedWith({ cpus: 3 });
  const acknowledged: string[] = [];
  const causes = ['succeeded', 'failed', 'node-lost', 'preempted'] as const;
  for (let step = 0; step < 300; step++) {
    const kind = random(10);
    if (kind < 4 && acknowledged.length < 60) {
      const id = `j${step}`;
      await bed.queue.submit(cpu(id, { retries: { failed: 1, nodeLost: 1, preempted: 1 } }));
      acknowledged.push(id);
    } else if (kind < 7) {
      const running = [...bed.store.live.values()].filter((job) => job.state === 'running');
      const one = running[random(running.length || 1)];
      if (one) bed.runner.finish(one.attempts.at(-1)?.id ?? '', causes[random(causes.length)] ?? 'failed');
    } else if (kind === 7) {
      const live = [...bed.store.live.keys()];
      const one = live[random(live.length || 1)];
      if (one && random(3) === 0) await bed.queue.stop(one);
    } else if (kind === 8) {
      bed.runner.loseAnswer('start');
    } else {
      await settle(random(4));
      await bed.crash();
    }
    if (random(3) === 0) await settle(random(6));
    if (random(5) === 0) await bed.clock.advance(random(4_000));
  }
  // What the disk has to keep takes real time, whatever the clock of the queue says.
  for (const end = performance.now() + 60_000; bed.store.live.size > 0 && performance.now() < end; ) {
    for (const job of bed.store.live.values())
      if (job.state === 'running') bed.runner.finish(job.attempts.at(-1)?.id ?? '');
    await bed.clock.advance(5_000);
  }
  assert.equal(
    bed.store.live.size,
    0,
    `seed ${seed}: ${JSON.stringify([...bed.store.live.values()].map((job) => [job.id, job.state]))}`,
  );
  for (const id of acknowledged) assert.ok(bed.queue.get(id), `seed ${seed}: ${id} is lost`);
  for (const [attempt, starts] of bed.runner.starts)
    assert.equal(starts, 1, `seed ${seed}: ${attempt} ran ${starts} times`);
  for (const job of bed.store.jobs.values()) {
    assert.ok(job.attempts.filter((attempt) => attempt.cause === 'failed').length <= 2, `seed ${seed}: ${job.id}`);
    for (const attempt of job.attempts) assert.ok(attempt.cause, `seed ${seed}: ${attempt.id} has no end`);
  }
});
