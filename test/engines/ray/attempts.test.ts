import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { EventSink } from '../../../src/base/events.ts';
import { readLog } from '../../../src/base/files/log-segments.ts';
import type { NamedSlice } from '../../../src/core/placement/slices.ts';
import { Bookings } from '../../../src/engines/ray/gcs/bookings.ts';
import { type AttemptEdges, RayAttempts } from '../../../src/engines/ray/jobs/attempts.ts';
import type { JobInfo } from '../../../src/engines/ray/jobs/job-info.ts';
import { entrypointOf, type RayJobBody } from '../../../src/engines/ray/jobs/submission.ts';
import type { AttemptOrder, AttemptReport, Driver } from '../../../src/engines/runner.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { never, until } from '../../contract/waiting.ts';

/**
 * Attempts at a Ray that has `infos`, and packages that travel until `arrive` is called or they are broken off. The output
 * of each is `output`; what happens is in `said`. Time stands still but in `passes` and `until`.
 */
function attemptsOf(t: TestContext, folder = mkdtempSync(join(tmpdir(), 'manta-attempts-'))) {
  const time = new VirtualTime(1_000_000);
  const infos = new Map<string, JobInfo>();
  const drivers = new Map<string, Driver>();
  const said: string[] = [];
  const told: AttemptReport[] = [];
  const travel = Promise.withResolvers<void>();
  const events: unknown[] = [];
  const output = Buffer.from('output\n');
  const slices: { free?: readonly NamedSlice[]; broken?: string } = {};
  const environment: Record<string, unknown> = {};
  let refusing = false;
  let losingAnswers = false;
  let noDashboard = false;
  let noGcs = false;
  let noDrivers = false;
  let questions = 0;
  const submissionOf = async (name: string, order: AttemptOrder, signal: AbortSignal): Promise<RayJobBody> => {
    said.push(`ship ${name}`);
    const broken = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await Promise.race([travel.promise, broken]);
    return { submission_id: name, entrypoint: entrypointOf(order), runtime_env: environment, metadata: {} };
  };
  const edges = {
    folder,
    clock: new VirtualClock(time),
    events: { emit: (_, data) => events.push(data) } satisfies EventSink,
    http: {
      ask: async (_: string, { headers }: { headers: { range: string } }) => {
        said.push('read');
        const from = Number(/\d+/.exec(headers.range)?.[0]);
        return from < output.length ? { status: 206, body: output.subarray(from) } : { status: 416, body: output };
      },
    },
    bookings: new Bookings(),
    jobs: {
      submit: async ({ submission_id, entrypoint }: RayJobBody) => {
        if (refusing) throw new Error('no way to Ray');
        said.push(`submit ${submission_id}`);
        if (infos.has(submission_id)) return { exists: true };
        infos.set(submission_id, { status: 'PENDING', entrypoint });
        if (losingAnswers) throw new Error('the answer was lost');
        return {};
      },
      stop: async (id: string) => {
        if (noDashboard) throw new Error('no way to the dashboard');
        return said.push(`stop ${id}`) > 0;
      },
      delete: async () => {},
    },
    infos: async (ids: readonly string[]) => {
      if (noGcs) questions += 1;
      if (noGcs) throw new Error('no way to the GCS');
      return new Map([...infos].filter(([id]) => ids.includes(id)));
    },
    killSupervisor: async (id: string) => void said.push(`kill ${id}`),
    fateOf: async () => 'alive',
    isLeaving: () => false,
    submissionOf,
    onTaken: ({ id }: AttemptOrder) => said.push(`take ${id}`),
    onBooked: ({ id }: AttemptOrder) => said.push(`book ${id}`),
    onRunning: () => {},
    slicesFor: () => slices.free,
    brokenSlice: () => slices.broken,
    driverOf: async (name: string) => (noDrivers ? await new Promise<never>(() => {}) : drivers.get(name)),
  } as unknown as AttemptEdges;
  const attempts = new RayAttempts(edges);
  attempts.watch((report) => told.push(report));
  t.after(async () => {
    await attempts.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const order = (id: string): AttemptOrder => {
    const [job = '', number = '1'] = id.split('.');
    const plain = { id, job, number: Number(number), env: {}, own: {}, metadata: {}, setup: [], environment: {} };
    return { ...plain, entrypoint: 'true', resources: { CPU: 1 }, labels: {}, log: join(folder, id) };
  };
  return {
    ...{ attempts, folder, infos, drivers, said, told, events, order, slices, environment },
    passes: (duration: number) => time.run(time.now + duration),
    /** Files are read and written outside of virtual time, which goes on a little with each look. */
    until: <Value>(what: string, check: () => Value | undefined | false | Promise<Value | undefined | false>) =>
      until(what, async () => {
        await time.run(time.now + 50);
        return await check();
      }),
    arrive: () => travel.resolve(),
    refuse: () => void (refusing = true),
    /** Ray takes what it is given, and nobody hears of it. */
    loseAnswers: (losing: boolean) => void (losingAnswers = losing),
    loseDashboard: () => void (noDashboard = true),
    loseDrivers: () => void (noDrivers = true),
    /** Returns how often it was asked since. */
    loseGcs: () => {
      noGcs = true;
      return () => questions;
    },
  };
}

const running: JobInfo = { status: 'RUNNING', driver_agent_http_address: 'http://agent', driver_node_id: 'ab' };

it('an attempt has its room before its packages travel', async (t) => {
  const { attempts, said, arrive, order } = attemptsOf(t);
  const starting = attempts.start(order('a.1'), never);
  assert.deepEqual(said, ['take a.1', 'ship a']);
  arrive();
  await starting;
  assert.deepEqual(said.slice(2), ['book a.1', 'submit a']);
});

it('archives on disk are needed until the attempt is over, also after a restart', async (t) => {
  const { attempts, folder, until, environment, infos, arrive, order } = attemptsOf(t);
  environment['working_dir'] = 'file:///tmp/manta-packages-x/_ray_pkg_ab.zip';
  environment['py_modules'] = ['gcs://other.zip', 'file:///tmp/manta-packages-x/m-1-py3-none-any.whl'];
  arrive();
  await attempts.start(order('a.1'), never);
  const needed = ['_ray_pkg_ab.zip', 'm-1-py3-none-any.whl'];
  assert.deepEqual([...attempts.archives()], needed);
  assert.deepEqual([...attemptsOf(t, folder).attempts.archives()], needed);
  infos.set('a', { ...running, status: 'SUCCEEDED', driver_exit_code: 0 });
  await until('nothing needs them', () => attempts.archives().size === 0);
});

it('an attempt that is stopped while its packages travel never reaches Ray', async (t) => {
  const { attempts, said, told, order } = attemptsOf(t);
  const starting = attempts.start(order('a.1'), never);
  await attempts.stop('a.1', 0, never);
  await starting;
  assert.deepEqual(
    told.map(({ state, cause }) => [state, cause]),
    [['ended', 'stopped']],
  );
  assert.ok(!said.some((each) => /^submit|^stop/.test(each)), said.join());
  assert.equal(attempts.busy, false);
});

it('one that came there by an earlier try, whose answer was lost, is stopped there', async (t) => {
  const { attempts, until, infos, said, told, order } = attemptsOf(t);
  infos.set('a', { status: 'PENDING' });
  void attempts.start(order('a.1'), never);
  await attempts.stop('a.1', 0, never);
  assert.ok(said.includes('stop a'), said.join());
  infos.set('a', { status: 'STOPPED' });
  await until('its end is told', () => told.some(({ state, cause }) => state === 'ended' && cause === 'stopped'));
});

it('one that Ray has not taken yet is over when it is stopped', async (t) => {
  const { attempts, told, arrive, order, refuse } = attemptsOf(t);
  arrive();
  refuse();
  await assert.rejects(attempts.start(order('a.1'), never), /no way to Ray/);
  await attempts.stop('a.1', 0, never);
  assert.deepEqual(
    told.map(({ state, cause }) => [state, cause]),
    [['ended', 'stopped']],
  );
  assert.equal(attempts.busy, false);
});

it('a job that the dashboard could not tell to end has more time to hear of it; a kill needs no dashboard', async (t) => {
  const { attempts, passes, until, infos, said, arrive, loseDashboard, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  infos.set('a', running);
  loseDashboard();
  await assert.rejects(attempts.stop('a.1', 1, never), /no way to the dashboard/);
  await passes(25_000);
  assert.ok(!said.includes('kill a'));
  await assert.rejects(attempts.stop('a.1', 0, never), /no way to the dashboard/);
  await until('it is killed', () => said.includes('kill a'));
});

it('a Ray that does not answer is not asked without a pause whether a job has ended', async (t) => {
  const { attempts, passes, infos, arrive, loseGcs, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  infos.set('a', running);
  const asked = loseGcs();
  await attempts.stop('a.1', 0, never);
  await passes(500);
  assert.ok(asked() < 20, `${asked()} questions`);
});

it('a second stop with less grace kills sooner', async (t) => {
  const { attempts, until, infos, said, arrive, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  infos.set('a', running);
  await attempts.stop('a.1', 1_000_000, never);
  assert.ok(!said.includes('kill a'));
  await attempts.stop('a.1', 0, never);
  await until('it is killed', () => said.includes('kill a'));
});

it('the output of one that Ray has forgotten is not asked for any more, and its log says what is missing', async (t) => {
  const { attempts, passes, until, infos, said, told, arrive, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  infos.set('a', running);
  await until('its output is read', async () => ((await attempts.reports(never))[0]?.logSize ?? 0) > 0);
  infos.delete('a');
  const end = await until('its end is told', () => told.find(({ state }) => state === 'ended'));
  const text = (await readLog(order('a.1').log, 0, 10_000)).bytes.toString();
  assert.match(text, /^output\n\n\[manta\] the rest of the output is missing: /);
  assert.equal(end.cause, 'node-lost');
  assert.equal(end.logSize, text.length);
  const reads = (): number => said.filter((each) => each === 'read').length;
  const before = reads();
  await passes(60_000);
  assert.equal(reads(), before);
});

it('a disk that refuses for a while keeps no attempt from being seen running and over', async (t) => {
  const { attempts, until, folder, infos, told, events, arrive, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  const records = join(folder, 'ray-attempts');
  const refuse = (): void => {
    renameSync(records, `${records}.away`);
    writeFileSync(records, '');
    events.length = 0;
  };
  const mend = async (): Promise<void> => {
    await until('it was tried', () => events.length > 0);
    rmSync(records);
    renameSync(`${records}.away`, records);
  };
  refuse();
  infos.set('a', running);
  await mend();
  await until('it is seen running', () => told.some(({ state }) => state === 'running'));
  refuse();
  infos.delete('a');
  await mend();
  await until('it is seen over', () => told.some(({ state }) => state === 'ended'));
});

it('one whose submission Ray takes only after the stop is ended there', async (t) => {
  const { attempts, until, infos, said, arrive, refuse, order } = attemptsOf(t);
  arrive();
  refuse();
  await assert.rejects(attempts.start(order('a.1'), never), /no way to Ray/);
  await attempts.stop('a.1', 0, never);
  infos.set('a', { status: 'PENDING' });
  attempts.forget('a.1');
  await until('it is killed', () => said.includes('kill a'));
});

it('one that Ray has not taken is not asked for any more once it is forgotten', async (t) => {
  const { attempts, arrive, refuse, order } = attemptsOf(t);
  arrive();
  refuse();
  await assert.rejects(attempts.start(order('a.1'), never), /no way to Ray/);
  assert.equal(attempts.busy, true);
  attempts.forget('a.1');
  assert.equal(attempts.busy, false);
});

it('a record that is damaged is set aside, and the others are taken up', async (t) => {
  const first = attemptsOf(t);
  first.arrive();
  for (const id of ['a.1', 'b.1']) await first.attempts.start(first.order(id), never);
  await first.attempts.close();
  const records = join(first.folder, 'ray-attempts');
  writeFileSync(join(records, 'a.json'), '{"format":1,"id":"a.1","subm');
  const again = attemptsOf(t, first.folder);
  for (const name of ['a', 'b']) again.infos.set(name, { status: 'PENDING' });
  assert.deepEqual(
    (await again.attempts.reports(never)).map(({ id }) => id),
    ['b.1'],
  );
  assert.ok(readdirSync(records).includes('a.json.bad'));
  assert.match(JSON.stringify(again.events), /set aside as/);
});

it('the first attempt has the name of its job at Ray, later ones their own', async (t) => {
  const { attempts, said, told, arrive, order } = attemptsOf(t);
  arrive();
  for (const id of ['a.1', 'a.2', 'a.3']) await attempts.start(order(id), never);
  assert.deepEqual(
    said.filter((each) => each.startsWith('submit')),
    ['submit a', 'submit a.2', 'submit a.3'],
  );
  assert.deepEqual(
    told.map(({ id, submission }) => [id, submission]),
    [
      ['a.1', 'a'],
      ['a.2', undefined],
      ['a.3', undefined],
    ],
  );
});

it('a job of somebody else that has the name at Ray keeps it, and is neither followed nor ended', async (t) => {
  const { attempts, until, infos, said, told, arrive, order } = attemptsOf(t);
  infos.set('a', { status: 'RUNNING', entrypoint: 'of somebody else', driver_agent_http_address: 'http://other' });
  arrive();
  await attempts.start(order('a.1'), never);
  assert.deepEqual(said.slice(-2), ['submit a', 'submit a-2']);
  assert.ok(attempts.submissions().has('a-2') && !attempts.submissions().has('a'));
  infos.set('a-2', { ...running, entrypoint: 'true' });
  await until('it runs', () => told.some(({ state, submission }) => state === 'running' && submission === 'a-2'));
  infos.set('a-2', { ...running, entrypoint: 'true', status: 'SUCCEEDED', driver_exit_code: 0 });
  await until('it is over', () => told.some(({ state }) => state === 'ended'));
  attempts.forget('a.1');
  assert.ok(!said.some((each) => /^(?:stop|kill) a$/.test(each)), said.join());
});

it('one that is stopped before Ray has answered leaves the job of somebody else alone', async (t) => {
  const { attempts, until, infos, said, told, arrive, refuse, order } = attemptsOf(t);
  arrive();
  refuse();
  await assert.rejects(attempts.start(order('a.1'), never), /no way to Ray/);
  infos.set('a', { status: 'RUNNING', entrypoint: 'of somebody else' });
  await attempts.stop('a.1', 0, never);
  await until('it is over', () => told.some(({ state, cause }) => state === 'ended' && cause === 'stopped'));
  attempts.forget('a.1');
  await until('it is let go of', () => !attempts.submissions().has('a'));
  assert.ok(!said.includes('kill a') && !said.includes('stop a'), said.join());
});

it('names of two jobs that would be the same at Ray are kept apart', async (t) => {
  const { attempts, said, arrive, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.2'), never);
  await attempts.start({ ...order('a.2'), id: 'a.2.1', job: 'a.2', number: 1 }, never);
  assert.deepEqual(
    said.filter((each) => each.startsWith('submit')),
    ['submit a.2', 'submit a.2-2'],
  );
});

it('an attempt that an earlier version handed over is followed under the name it has', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-attempts-'));
  mkdirSync(join(folder, 'ray-attempts'));
  const record = { format: 1, id: 'a.1', submission: 'a.1', log: join(folder, 'log'), entrypoint: 'true' };
  const text = JSON.stringify({ ...record, sent: true, accepted: true });
  writeFileSync(join(folder, 'ray-attempts', 'a.1.json'), `\n${text}`);
  const { attempts, until, infos, told } = attemptsOf(t, folder);
  infos.set('a.1', { ...running, entrypoint: 'true' });
  assert.deepEqual(
    (await attempts.reports(never)).map(({ id, state }) => [id, state]),
    [['a.1', 'running']],
  );
  infos.set('a.1', { ...running, entrypoint: 'true', status: 'SUCCEEDED', driver_exit_code: 0 });
  const end = await until('its end is told', () => told.find(({ state }) => state === 'ended'));
  assert.deepEqual([end.cause, end.submission], ['succeeded', undefined]);
});

it('the program that joined the cluster is told with the end of its attempt', async (t) => {
  const { attempts, until, infos, drivers, told, arrive, order } = attemptsOf(t);
  arrive();
  await attempts.start(order('a.1'), never);
  drivers.set('a', { id: '08000000', address: '10.0.0.1', pid: '42' });
  infos.set('a', { ...running, status: 'SUCCEEDED', driver_exit_code: 0 });
  const end = await until('its end is told', () => told.find(({ state }) => state === 'ended'));
  assert.deepEqual(end.driver, { id: '08000000', address: '10.0.0.1', pid: '42' });
});

it('one that an earlier version may have sent is taken up, whether it came to Ray or not', async (t) => {
  for (const came of [true, false]) {
    const folder = mkdtempSync(join(tmpdir(), 'manta-attempts-'));
    mkdirSync(join(folder, 'ray-attempts'));
    const record = {
      format: 1,
      id: 'a.1',
      submission: 'a.1',
      log: join(folder, 'log'),
      entrypoint: 'true',
      sent: true,
    };
    writeFileSync(join(folder, 'ray-attempts', 'a.1.json'), `\n${JSON.stringify(record)}`);
    const { attempts, until, infos, said, told, arrive, order } = attemptsOf(t, folder);
    if (came) infos.set('a.1', { status: 'PENDING', entrypoint: 'true' });
    arrive();
    const asked = { ...order('a.1'), own: { A: '1' } };
    await attempts.start(asked, never);
    assert.deepEqual(
      said.filter((each) => each.startsWith('submit')),
      ['submit a.1'],
    );
    const entrypoint = infos.get('a.1')?.entrypoint ?? '';
    assert.equal(entrypoint, came ? 'true' : entrypointOf(asked));
    assert.notEqual(entrypointOf(asked), 'true');
    infos.set('a.1', { ...running, entrypoint });
    await until('it runs', () => told.some(({ state }) => state === 'running'));
  }
});

it('one that an earlier version may have sent runs once, also when the next answer is lost as well', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-attempts-'));
  mkdirSync(join(folder, 'ray-attempts'));
  const record = { format: 1, id: 'a.1', submission: 'a.1', log: join(folder, 'log'), entrypoint: 'true', sent: true };
  writeFileSync(join(folder, 'ray-attempts', 'a.1.json'), `\n${JSON.stringify(record)}`);
  const { attempts, until, infos, said, told, arrive, loseAnswers, order } = attemptsOf(t, folder);
  const asked = { ...order('a.1'), own: { MANTA_JOB_ID: 'a' } };
  arrive();
  loseAnswers(true);
  await assert.rejects(attempts.start(asked, never), /the answer was lost/);
  // What the record says is what a head that is started anew goes by.
  const lines = readFileSync(join(folder, 'ray-attempts', 'a.1.json'), 'utf8').split('\n');
  const { entrypoint, earlierEntrypoints } = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  assert.deepEqual([entrypoint, earlierEntrypoints], [entrypointOf(asked), ['true']]);
  loseAnswers(false);
  await attempts.start(asked, never);
  assert.deepEqual(
    said.filter((each) => each.startsWith('submit')),
    ['submit a.1', 'submit a.1'],
  );
  assert.deepEqual([...infos.keys()], ['a.1']);
  infos.set('a.1', { ...running, entrypoint: entrypointOf(asked) });
  await until('it runs', () => told.some(({ state }) => state === 'running'));
});

it('a dashboard that does not tell the program of a job keeps no attempt from ending', async (t) => {
  const { attempts, infos, until, told, arrive, loseDrivers, order } = attemptsOf(t);
  arrive();
  loseDrivers();
  await attempts.start(order('a.1'), never);
  infos.set('a', { ...running, status: 'SUCCEEDED', driver_exit_code: 0 });
  const end = await until('its end is told', () => told.find(({ state }) => state === 'ended'));
  assert.equal(end.driver, undefined);
});

/** A job across two slices that runs. */
async function acrossSlices(t: TestContext) {
  const bed = attemptsOf(t);
  bed.arrive();
  bed.slices.free = ['a', 'b'].map((name) => ({ name, hosts: 2 }));
  const gang = { bundles: [{ 'TPU-v4-16-head': 1 }, { 'TPU-v4-16-head': 1 }], strategy: 'STRICT_SPREAD' };
  const order = { ...bed.order('a.1'), gang };
  const entrypoint = entrypointOf({ ...order, own: { MANTA_SLICES: '["a","b"]' } });
  const started = async () => {
    await bed.attempts.start(order, never);
    bed.infos.set('a', { ...running, entrypoint });
    await bed.until('it runs', () => bed.told.some(({ state }) => state === 'running'));
  };
  const ends = (info: JobInfo) => bed.infos.set('a', { ...running, entrypoint, ...info });
  const cause = () => bed.until('it has ended', () => bed.told.find(({ state }) => state === 'ended')?.cause);
  return { ...bed, order, started, ends, cause };
}

it('a job across slices is ended when one of them is not whole any more, and was preempted', async (t) => {
  const { attempts, slices, started, ends, cause, said, until } = await acrossSlices(t);
  await started();
  assert.deepEqual([...attempts.heldSlices()], ['a', 'b']);
  slices.broken = 'b';
  await until('it is killed', () => said.includes('kill a'));
  ends({ status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED' });
  assert.equal(await cause(), 'preempted');
  assert.equal(attempts.heldSlices().size, 0);
});

it('a job that fails since a slice goes was preempted, and one that fails on whole slices has failed', async (t) => {
  const first = await acrossSlices(t);
  await first.started();
  first.ends({ status: 'FAILED', driver_exit_code: 1 });
  await first.until('Ray tells a while later', () => first.said.includes('read'));
  first.slices.broken = 'a';
  assert.equal(await first.cause(), 'preempted');
  const second = await acrossSlices(t);
  await second.started();
  second.ends({ status: 'FAILED', driver_exit_code: 1 });
  assert.equal(await second.cause(), 'failed');
});

it('a job whose slices went before it was handed over was preempted, and Ray never hears of it', async (t) => {
  const { attempts, slices, order, said, cause } = await acrossSlices(t);
  delete slices.free;
  await attempts.start(order, never);
  assert.equal(await cause(), 'preempted');
  assert.deepEqual(said, []);
});
