/** What one user's jobs and requests may take of the head's memory. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { Hono } from 'hono';
import { openLogWriter } from '../../src/base/files/log-segments.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { jobErrors } from '../../src/jobs/errors.ts';
import { memoryOf } from '../../src/jobs/queue/job-memory.ts';
import { sweep } from '../../src/jobs/queue/retention.ts';
import { Shares, shareMemory } from '../../src/jobs/queue/shares.ts';
import { newJob, specOf } from '../../src/jobs/queue/submission.ts';
import type { JobsEnv } from '../../src/jobs/users/auth.ts';
import type { User } from '../../src/jobs/users/users.ts';
import { type ApiBed, makeApiBed } from './api-bed.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { makeBed } from './queue-bed.ts';

const later = { startAfter: 1e15 };
const jobOf = (more: object) => newJob(specOf({ user: 'ada', entrypoint: 'true', ...more }, 'id', 0), 0);

test('memory of live jobs has a budget a user and one for the cluster', async (t) => {
  const clock = new ManualClock();
  const large = { ...later, entrypoint: 'x'.repeat(10_000) };
  const one = memoryOf(jobOf({ ...large, user: 'ada' })) + 100;
  const bed = await makeBed({
    clock,
    runner: new FakeRunner(clock),
    limits: { jobBytesPerUser: 3 * one, jobBytes: 5 * one },
  });
  t.after(() => bed.remove());
  const submitAll = (user: string, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => bed.queue.submit({ ...large, user })));
  const taken = (results: PromiseSettledResult<unknown>[]): number =>
    results.filter((result) => result.status === 'fulfilled').length;
  const first = await submitAll('ada', 8);
  assert.equal(taken(first), 3, 'also of jobs that come at once');
  const refused = first.find((result) => result.status === 'rejected');
  assert.ok(jobErrors.MemoryFull.is(refused?.reason) && refused.reason.data.scope === 'user');
  const second = await submitAll('bob', 3);
  assert.equal(taken(second), 2);
  const full = second.find((result) => result.status === 'rejected');
  assert.ok(jobErrors.MemoryFull.is(full?.reason) && full.reason.data.scope === 'cluster');

  await bed.crash();
  assert.equal(taken(await submitAll('ada', 1)), 0, 'it is known after a restart');
  const [gone] = [...bed.store.jobs.values()].filter((job) => job.user === 'ada');
  await bed.queue.stop(gone!.id);
  assert.equal(taken(await submitAll('ada', 1)), 0, 'a job that is over counts while it is kept');
  await sweep({ ...bed, clock, limits: { finishedBytes: 0 } });
  assert.equal(taken(await submitAll('ada', 2)), 1);
});

test('a change that did not reach the disk takes no memory', async (t) => {
  const clock = new ManualClock();
  const bed = await makeBed({ clock, runner: new FakeRunner(clock) });
  t.after(() => bed.remove());
  await bed.queue.submit({ user: 'ada', entrypoint: 'true', ...later });
  const before = bed.store.memory.of('ada');
  const pages = Number(bed.database.sql.prepare('PRAGMA page_count').get()?.['page_count']);
  bed.database.sql.exec(`PRAGMA max_page_count = ${pages}`);
  await assert.rejects(
    bed.queue.submit({ user: 'ada', entrypoint: `true ${'x'.repeat(60_000)}`, ...later }),
    /no room/,
  );
  assert.equal(bed.store.memory.of('ada'), before);
});

test('a hundred thousand small jobs of one user fit', () => {
  const small = jobOf({
    id: 'raysubmit_abcdefghijklmnop',
    entrypoint: 'python train.py --seed 123456',
    resources: { CPU: 1 },
    metadata: { job_name: 'train-123456' },
    runtimeEnv: { working_dir: 'gcs://_ray_pkg_0123456789abcdef.zip', env_vars: { SEED: '123456', STAGE: 'test' } },
  });
  assert.ok(memoryOf(small) * 100_000 < 224 << 20, String(memoryOf(small)));
});

test('JSON of few bytes that becomes many objects counts as what it becomes', () => {
  const count = 100_000;
  const lists = jobOf({ runtimeEnv: { config: { a: Array.from({ length: count }, () => []) } } });
  const objects = jobOf({
    runtimeEnv: { config: { a: Array.from({ length: count / 10 }, (_, i) => ({ [`k${i}`]: 1 })) } },
  });
  assert.ok(memoryOf(lists) > count * 44, 'a list of nothing takes 44 bytes');
  assert.ok(memoryOf(objects) > (count / 10) * 178, 'an object with a name of its own 178');
});

test('metadata, environments and selectors have limits, told by the field', () => {
  const wrong: [object, RegExp][] = [
    [
      { metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, ''])) },
      /metadata has 1001 entries/,
    ],
    [{ metadata: { ['k'.repeat(1_001)]: '' } }, /metadata has a key longer than 1000/],
    [{ metadata: { note: 'x'.repeat(16_385) } }, /metadata\['note'\] is longer than 16384/],
    [
      { metadata: Object.fromEntries(Array.from({ length: 5 }, (_, i) => [i, 'x'.repeat(16_000)])) },
      /longer than 65536 bytes/,
    ],
    [{ runtimeEnv: { config: { a: 'x'.repeat(1 << 20) } } }, /runtime_env is longer than 1048576 bytes/],
    [{ labels: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`l${i}`, 'a'])) }, /more than 100 labels/],
    [{ labels: { zone: 'a'.repeat(1_001) } }, /longer than 1000 characters/],
    [{ cron: '* '.repeat(150) }, /cron is longer than 200/],
  ];
  for (const [more, words] of wrong) assert.throws(() => jobOf(more), words);
  let deep: unknown = [];
  for (let i = 0; i < 200_000; i++) deep = [deep];
  assert.throws(() => jobOf({ runtimeEnv: { config: deep } }), /runtime_env is nested too deeply/);
});

test('shares are taken in turn, and one user never waits for another', async () => {
  const shares = new Shares(10);
  const order: string[] = [];
  const take = async (name: string, user: string, amount: number) => {
    const release = await shares.take(user, amount);
    order.push(name);
    return release;
  };
  const first = await take('first', 'ada', 6);
  const second = take('second', 'ada', 6);
  const third = take('third', 'ada', 3);
  const other = await take('other', 'bob', 100);
  await settle();
  assert.deepEqual(order, ['first', 'other'], 'a small one does not pass a large one that came before');
  first();
  (await second)();
  (await third)();
  other();
  await take('whole', 'ada', 10);
  assert.deepEqual(order, ['first', 'other', 'second', 'third', 'whole']);
});

let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({ runner: new FakeRunner(new ManualClock()), limits: { jobBytesPerUser: 50_000 } });
});
after(() => bed.remove());

test('both APIs refuse with 429 what does not fit into memory', async () => {
  const entrypoint = `true ${'x'.repeat(60_000)}`;
  const own = await bed.call('POST', '/api/manta/v1/jobs', { body: { entrypoint } });
  assert.equal(own.status, 429);
  assert.match(own.text, /MANTA_JOB_MEMORY_FULL/);
  const rays = await bed.call('POST', '/api/jobs/', { body: { entrypoint } });
  assert.equal(rays.status, 429);
  assert.match(rays.text, /the jobs of this user already use/);
});

test('a search of output goes on where the answer before ended, and its text has a limit', async () => {
  await bed.call('POST', '/api/manta/v1/jobs', { body: { id: 'noisy', entrypoint: 'true' } });
  const writer = openLogWriter(bed.logs.folder('noisy', 1), { now: () => 0 });
  writer.write(Buffer.from('a fish\nno bird\n'.repeat(150_000)));
  writer.end();
  let lines = 0;
  let answers = 0;
  for (let offset = '0'; ; answers++) {
    const answer = await bed.call('GET', `/api/manta/v1/jobs/noisy/logs?attempt=1&grep=fish&offset=${offset}`);
    assert.equal(answer.status, 200);
    lines += answer.text.split('\n').length - 1;
    if (answer.headers['manta-end'] === 'true') break;
    offset = answer.headers['manta-next'] as string;
  }
  assert.deepEqual([lines, answers], [150_000, 1]);
  const long = await bed.call('GET', `/api/manta/v1/jobs/noisy/logs?attempt=1&grep=${'a'.repeat(251)}`);
  assert.equal(long.status, 400);
});

test('readers that do not read hold a few answers of output, and the others wait', async () => {
  const writer = openLogWriter(bed.logs.folder('quiet', 1), { now: () => 0, segmentBytes: 8 << 20 });
  writer.write(Buffer.alloc(8 << 20, 'x'));
  writer.end();
  await bed.call('POST', '/api/manta/v1/jobs', { body: { id: 'quiet', entrypoint: 'true' } });
  const path = '/api/manta/v1/jobs/quiet/logs?attempt=1';
  const held = await Promise.all(Array.from({ length: 4 }, () => bed.open(path)));
  let fifth: 'waits' | 'answered' = 'waits';
  const waiting = bed.open(path).then((answer) => {
    fifth = 'answered';
    return answer;
  });
  const others = await bed.call('GET', path, { token: bed.admin });
  assert.equal(others.text.length, 8 << 20);
  assert.equal(fifth, 'waits');
  held[0]?.destroy();
  (await waiting).destroy();
  for (const answer of held) answer.destroy();
});

test('readers that do not read hold a few answers of whatever kind, and a line that is gone holds none', async (t) => {
  const big = await bed.tokenOf('big');
  const headers = { authorization: `Bearer ${big}` };
  await bed.queue.submit({ id: 'big', user: 'root', entrypoint: 'true', startAfter: 1e15 });
  const record = bed.store.jobs.get('big')!;
  // A record of 8 MiB, more than the system takes for a client that does not read.
  const kept = { ...record, metadata: { note: 'x'.repeat(8 << 20) }, user: 'big' };
  t.mock.method(bed.store.jobs as Map<string, Job>, 'get', () => kept);
  const path = '/api/manta/v1/jobs/big';
  // On one line, so that all but the first wait behind it.
  const line = connect(bed.port, '127.0.0.1');
  line.on('error', () => {});
  const asking = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${big}\r\n\r\n`;
  line.write(asking.repeat(3));
  await once(line, 'readable');
  const held = await Promise.all(Array.from({ length: 29 }, () => bed.open(path, { headers })));
  let next: 'waits' | 'answered' = 'waits';
  const waiting = bed.open(path, { headers }).then((answer) => {
    next = 'answered';
    return answer;
  });
  const others = await bed.call('GET', '/api/manta/v1/jobs');
  assert.equal(others.status, 200);
  assert.equal(next, 'waits');
  line.destroy();
  (await waiting).destroy();
  for (const answer of held) answer.destroy();
  const again = await Promise.all(Array.from({ length: 32 }, () => bed.open(path, { headers })));
  for (const answer of again) answer.destroy();
});

test('one user follows so many outputs at once, and may follow another when one is closed', async () => {
  await bed.queue.submit({ id: 'waits', user: 'ada', entrypoint: 'true', startAfter: 1e15 });
  const path = '/api/manta/v1/jobs/waits/logs/follow';
  const held = await Promise.all(Array.from({ length: 256 }, () => bed.open(path)));
  assert.ok(held.every(({ statusCode }) => statusCode === 200));
  const refused = await bed.call('GET', path);
  assert.equal(refused.status, 429);
  assert.match(refused.text, /MANTA_API_TOO_MANY_STREAMS/);
  assert.equal(refused.headers['retry-after'], '5');
  const owners = await bed.open(path, { headers: { authorization: `Bearer ${bed.admin}` } });
  assert.equal(owners.statusCode, 200);
  owners.destroy();
  held[0]?.destroy();
  for (;;) {
    const again = await bed.open(path);
    again.destroy();
    if (again.statusCode === 200) break;
  }
  for (const answer of held) answer.destroy();
});

test('one user has so many streams open at once, and another has theirs', async () => {
  const app = new Hono<JobsEnv>();
  app.use(async (c, next) => {
    c.set('user', { name: c.req.header('user') ?? '', admin: false } as User);
    await next();
  });
  app.use(shareMemory());
  app.get('/api/manta/v1/stream', (c) => c.body(new ReadableStream()));
  const closing: (() => void)[] = [];
  const ask = async (user: string): Promise<number> => {
    const outgoing = Object.assign(new EventEmitter(), { closed: false, req: { socket: { destroyed: false } } });
    closing.push(() => outgoing.emit('close'));
    return (await app.request('/api/manta/v1/stream', { headers: { user } }, { outgoing })).status;
  };
  for (let count = 0; count < 64; count++) assert.equal(await ask('ada'), 200);
  assert.deepEqual([await ask('ada'), await ask('bob')], [429, 200]);
  closing[0]?.();
  assert.deepEqual([await ask('ada'), await ask('ada')], [200, 429]);
});

test('a large listing is given in pieces that together are one list', async () => {
  const users = await Promise.all(['u1', 'u2', 'u3', 'u4'].map((user) => bed.tokenOf(user)));
  for (const token of users)
    for (let i = 0; i < 3; i++)
      await bed.call('POST', '/api/manta/v1/jobs', { token, body: { entrypoint: `true ${'y'.repeat(12_000)}` } });
  const jobs = (await bed.call('GET', '/api/jobs/')).json() as { entrypoint: string }[];
  assert.equal(jobs.filter((job) => job.entrypoint.length > 12_000).length, 12);
  assert.equal(jobs.length, bed.store.jobs.size);
});

test('searching and listing many long commands lets others have their turn', async (t) => {
  const clock = new ManualClock();
  const many = await makeApiBed({ runner: new FakeRunner(clock) });
  t.after(() => many.remove());
  const entrypoint = 'curl -u a:b token=abc "x" '.repeat(70);
  await Promise.all(
    Array.from({ length: 3_000 }, (_, i) =>
      many.queue.submit({ ...later, user: 'greedy', entrypoint: `${i} ${entrypoint}` }),
    ),
  );
  let others = 0;
  const beat = setInterval(() => (others += 1), 1);
  t.after(() => clearInterval(beat));
  for (const path of ['/api/manta/v1/jobs?limit=1000', '/api/manta/v1/jobs?search=curl', '/api/jobs/']) {
    others = 0;
    const { status } = await many.call('GET', path);
    assert.equal(status, 200);
    assert.ok(others >= 10, `${path}: ${others} turns of others`);
  }
});
