/** Archives that jobs name, from a real server that stalls, drips, cuts and overloads; time is virtual. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { writeZip } from '../../src/base/archive/archive.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import type { PackageLimits } from '../../src/jobs/packages/packages.ts';
import { archiveServer } from './archive-server.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';
import { makeBed } from './queue-bed.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-downloads-'));
after(() => rmSync(root, { recursive: true, force: true }));
let zip: Buffer;

before(async () => {
  writeFileSync(join(root, 'source'), 'print(1)');
  await writeZip([{ name: 'main.py', path: join(root, 'source'), mode: 0o644 }], join(root, 'zip'));
  zip = readFileSync(join(root, 'zip'));
});

async function bedWith(
  t: TestContext,
  answerWith: (answer: ServerResponse, message: IncomingMessage) => unknown,
  packageLimits: PackageLimits = {},
) {
  const clock = new ManualClock();
  const server = await archiveServer(answerWith);
  const runner = new FakeRunner(clock, 100);
  const bed = await makeBed({ clock, runner, packageLimits, request: server.request });
  t.after(async () => {
    await bed.remove();
    await server.close();
  });
  /** Lets virtual time pass until something holds. */
  const until = async <T>(what: string, look: () => T | undefined | false, step = 1_000): Promise<T> => {
    const deadline = performance.now() + 60_000;
    for (;;) {
      const found = look();
      if (found) return found;
      assert.ok(performance.now() < deadline, `gave up waiting until ${what}`);
      // Sockets need real time, which nothing here is measured by.
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(step);
    }
  };
  const submit = (id: string, user = 'ada', uri = `${server.url}/${id}.zip`): Promise<Job> =>
    bed.queue.submit({ id, user, entrypoint: 'true', resources: { CPU: 1 }, runtimeEnv: { working_dir: uri } });
  const failure = async (id: string): Promise<string> => {
    const job = await until(`${id} is over`, () => {
      const now = bed.queue.get(id);
      return now?.endedAt !== undefined && now;
    });
    assert.equal(job.state, 'failed');
    assert.equal(job.errorType, 'RUNTIME_ENV_SETUP_FAILURE');
    return job.message;
  };
  const started = (id: string): Promise<unknown> =>
    until(`${id} is handed over`, () => runner.orders.find((order) => order.job === id));
  const drafts = (): string[] => readdirSync(join(bed.folder, 'packages', 'blobs')).filter((n) => n.endsWith('.part'));
  return { ...bed, clock, server, runner, until, submit, failure, started, drafts };
}

const cut = (answer: ServerResponse): void => {
  answer.writeHead(200, { 'content-length': zip.length });
  answer.write(zip.subarray(0, 20), () => answer.destroy());
};

test('a server that cuts every body is asked a few times, then the job fails and says so', async (t) => {
  const bed = await bedWith(t, cut);
  await bed.submit('cut');
  const words = await bed.failure('cut');
  assert.match(words, /could not download 'https:.*cut\.zip': the connection was cut \(.*\) after 20 of \d+ bytes/);
  assert.match(words, /\(tried 4 times\)/);
  assert.equal(bed.server.asked.length, 4);
  assert.deepEqual(bed.drafts(), []);
  assert.match((await bed.logs.read('cut', 1, 0, 1_000)).bytes.toString(), /the connection was cut/);
});

test('a download that is cut once is tried again after a pause', async (t) => {
  const bed = await bedWith(t, (answer) => (bed.server.asked.length === 1 ? cut(answer) : answer.end(zip)));
  await bed.submit('again');
  await bed.until('the server was asked', () => bed.server.asked.length === 1 && bed.server.open() === 0, 0);
  await bed.clock.advance(900);
  assert.equal(bed.server.asked.length, 1);
  await bed.started('again');
  assert.equal(bed.server.asked.length, 2);
});

test('an overloaded server is asked again, one that refuses is not', async (t) => {
  const bed = await bedWith(t, (answer, { url }) => answer.writeHead(url === '/busy.zip' ? 503 : 404).end());
  await bed.submit('busy');
  await bed.submit('missing');
  assert.match(await bed.failure('busy'), /the server answered 503 \(tried 4 times\)/);
  assert.match(await bed.failure('missing'), /could not download '.*': the server answered 404$/);
  assert.equal(bed.server.asked.filter((path) => path === '/missing.zip').length, 1);
});

test('redirects end somewhere, and stay with https', async (t) => {
  const bed = await bedWith(t, (answer, { url }) =>
    answer.writeHead(302, { location: url === '/away.zip' ? 'http://127.0.0.1:1/' : '/round.zip' }).end(),
  );
  await bed.submit('away');
  await bed.submit('round');
  assert.match(await bed.failure('away'), /away from https/);
  assert.match(await bed.failure('round'), /too many redirects/);
});

test('a server that stalls, before its answer or within it, is given up', async (t) => {
  const bed = await bedWith(t, (answer, { url }) => url === '/mute.zip' || answer.write(zip.subarray(0, 7)));
  await bed.submit('mute');
  await bed.submit('half');
  assert.match(await bed.failure('mute'), /the server sent nothing for 1m \(tried 4 times\)/);
  assert.match(await bed.failure('half'), /the server sent nothing for 1m after 7 bytes \(tried 4 times\)/);
  await bed.until('nothing is open', () => bed.server.open() === 0);
});

test('a download that drips is ended after a while in all', async (t) => {
  const bed = await bedWith(t, (answer) => {
    const drip = (): void => void (answer.destroyed || answer.write('x', () => setImmediate(drip)));
    drip();
  });
  await bed.submit('drip');
  await bed.until('it has begun', () => bed.server.open() === 1);
  assert.match(await bed.failure('drip'), /it took longer than 30m/);
  await bed.until('the connection is closed', () => bed.server.open() === 0);
});

test('a download that is too large is ended, announced or not', async (t) => {
  const bed = await bedWith(
    t,
    (answer, { url }) => {
      if (url === '/announced.zip') answer.writeHead(200, { 'content-length': 101 }).flushHeaders();
      else answer.write(Buffer.alloc(101));
    },
    { uploadBytes: 100 },
  );
  await bed.submit('announced');
  await bed.submit('unannounced');
  assert.match(await bed.failure('announced'), /larger than 100 bytes/);
  assert.match(await bed.failure('unannounced'), /larger than 100 bytes/);
  await bed.until('nothing is open', () => bed.server.open() === 0);
});

test('a job that is stopped, or stopped and deleted, downloads no further', async (t) => {
  const bed = await bedWith(t, (answer) => answer.write(zip.subarray(0, 7)));
  await bed.submit('stopped');
  await bed.submit('deleted');
  await bed.until('both download', () => bed.server.open() === 2, 0);
  await bed.queue.stop('stopped');
  await bed.until('one does', () => bed.server.open() === 1, 0);
  await bed.queue.stop('deleted');
  await bed.queue.delete('deleted');
  await bed.until('none does', () => bed.server.open() === 0, 0);
  await bed.until('no draft is left', () => bed.drafts().length === 0, 0);
  assert.equal(bed.queue.get('stopped')?.state, 'stopped');
  await bed.clock.advance(600_000);
  assert.equal(bed.server.asked.length, 2, 'nobody asked again');
});

test('slow downloads of one user hold up nobody else, nor what is already here', async (t) => {
  const patient = { downloadSilence: 1e12, downloadWithin: 1e12 };
  const bed = await bedWith(t, (answer, { url }) => url?.startsWith('/slow') || answer.end(zip), patient);
  for (let i = 0; i < 10; i++) await bed.submit(`slow${i}`);
  await bed.until('all slots of the user are taken', () => bed.server.open() === 4, 0);
  await bed.submit('others', 'bob');
  await bed.started('others');

  await bed.packages.put('ada', 'here.zip', Readable.from([zip]));
  await bed.packages.open('ada', 'gcs://here.zip', new AbortController().signal);
  await bed.submit('here', 'ada', 'gcs://here.zip');
  await bed.started('here');
  assert.equal(bed.server.asked.filter((path) => path.startsWith('/slow')).length, 4);

  await bed.queue.stop('slow0');
  await bed.until('the next has its slot', () => bed.server.asked.includes('/slow4.zip'), 0);
});
