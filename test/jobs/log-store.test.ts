import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLogWriter } from '../../src/base/files/log-segments.ts';
import { folderName, openLogStore } from '../../src/jobs/logs/log-store.ts';
import { fc } from '../property.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-logs-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
let now = 0;
const store = () => openLogStore(join(root, String(count++)), () => now);
const writerFor = (logs: ReturnType<typeof store>, job: string, options = {}) =>
  openLogWriter(logs.folder(job, 1), { now: () => 0, ...options });
const text = (piece: { bytes: Buffer }): string => piece.bytes.toString();

test('a follower gets every byte in order while they are written, and ends exactly at the end', async () => {
  const logs = store();
  const writer = writerFor(logs, 'a', { segmentBytes: 50 });
  const followed = (async () => {
    let all = '';
    let next = 0;
    for await (const piece of logs.follow('a', 1, 0, new AbortController().signal)) {
      assert.equal(piece.offset, next);
      next = piece.next;
      all += text(piece);
    }
    return all;
  })();
  let written = '';
  for (let i = 0; i < 40; i++) {
    const line = `line ${i}\n`;
    writer.write(Buffer.from(line));
    written += line;
    if (i % 7 === 0) await sleep(2);
  }
  let over = false;
  void followed.then(() => (over = true));
  await sleep(20);
  assert.equal(over, false, 'a follow does not end while the attempt runs');
  writer.end();
  assert.equal(await followed, written);
});

test('bytes written in the very moment a follower looks are never taken for a gap', async () => {
  const logs = store();
  const follow = async (job: string): Promise<string> => {
    let all = '';
    for await (const piece of logs.follow(job, 1, 0, new AbortController().signal)) all += text(piece);
    return all;
  };
  for (let round = 0; round < 40; round++) {
    const jobs = Array.from({ length: 10 }, (_, i) => `race-${round}-${i}`);
    const followed = jobs.map(follow);
    for (const [i, job] of jobs.entries()) {
      for (let turns = 0; turns < (round + i) % 7; turns++) await new Promise((resolve) => setImmediate(resolve));
      const writer = writerFor(logs, job);
      writer.write(Buffer.from('every byte'));
      writer.end();
    }
    assert.deepEqual(
      await Promise.all(followed),
      jobs.map(() => 'every byte'),
      `round ${round}`,
    );
  }
});

test('a follower resumes at an offset', async () => {
  const logs = store();
  const writer = writerFor(logs, 'a');
  writer.write(Buffer.from('0123456789'));
  writer.end();
  const pieces = [];
  for await (const piece of logs.follow('a', 1, 6, new AbortController().signal)) pieces.push(text(piece));
  assert.equal(pieces.join(''), '6789');
});

test('a follower of a log that does not exist yet waits for it, and ends when told so', async () => {
  const logs = store();
  const stop = new AbortController();
  const waiting = logs.follow('later', 1, 0, stop.signal).next();
  await sleep(5);
  const writer = writerFor(logs, 'later');
  writer.write(Buffer.from('here'));
  assert.equal(text((await waiting).value as { bytes: Buffer }), 'here');
  stop.abort();
});

test('tail gives the last lines, as a slow reading of everything would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[a-c]{0,5}\n?$/), { maxLength: 30 }),
      fc.nat(8),
      fc.integer({ min: 3, max: 40 }),
      async (chunks, lines, segmentBytes) => {
        const logs = store();
        const writer = writerFor(logs, 'a', { segmentBytes });
        for (const chunk of chunks) writer.write(Buffer.from(chunk));
        writer.end();
        const all = chunks.join('');
        const parts = all.endsWith('\n') ? all.slice(0, -1).split('\n') : all.split('\n');
        const wanted =
          lines === 0 || all === '' ? '' : parts.slice(-lines).join('\n') + (all.endsWith('\n') ? '\n' : '');
        assert.equal(text(await logs.tail('a', 1, lines, 1 << 20)), wanted);
      },
    ),
    { numRuns: 60 },
  );
});

test('grep finds lines across segments, with the last one unfinished', async () => {
  const logs = store();
  const writer = writerFor(logs, 'a', { segmentBytes: 7 });
  writer.write(Buffer.from('one fish\ntwo birds\nred fish\nblue fish'));
  writer.end();
  const found = await logs.grep('a', 1, 'fish', 0, { bytes: 1 << 20 });
  assert.equal(text(found), 'one fish\nred fish\nblue fish');
  assert.equal(found.next, 37);
});

test('grep gives the lines that a slow reading would, in answers as small as asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[ab\n]{0,6}$/), { maxLength: 30 }),
      fc.constantFrom('', 'a', 'ab', 'b\n', '\n', 'a\nb'),
      fc.record({
        bytes: fc.integer({ min: 1, max: 20 }),
        lines: fc.integer({ min: 1, max: 5 }),
        scanned: fc.integer({ min: 1, max: 30 }),
      }),
      fc.integer({ min: 3, max: 40 }),
      async (chunks, needle, limits, segmentBytes) => {
        const logs = store();
        const writer = writerFor(logs, 'a', { segmentBytes });
        for (const chunk of chunks) writer.write(Buffer.from(chunk));
        writer.end();
        const all = chunks.join('');
        const wanted = all === '' ? [] : all.split(/(?<=\n)/).filter((line) => line.includes(needle));
        let found = '';
        for (let offset = 0, ended = false; !ended; ) {
          const piece = await logs.grep('a', 1, needle, offset, limits);
          const lines = text(piece).split(/(?<=\n)/);
          assert.ok(lines.length <= limits.lines && (piece.bytes.length <= limits.bytes || lines.length === 1));
          found += text(piece);
          ended = piece.next === offset;
          offset = piece.next;
        }
        assert.equal(found, wanted.join(''));
      },
    ),
    { numRuns: 60 },
  );
});

test('grep on millions of empty lines takes little more memory than what it gives', async () => {
  const logs = store();
  const writer = writerFor(logs, 'a');
  writer.write(Buffer.alloc(9 << 20, '\n'));
  writer.end();
  const before = process.memoryUsage().rss;
  const found = await logs.grep('a', 1, '\n', 0, { bytes: 8 << 20, lines: 8 << 20 });
  const grown = process.memoryUsage().rss - before;
  assert.equal(found.bytes.length, 8 << 20);
  assert.ok(grown < 200 << 20, `grew by ${grown >> 20} MiB`);
  assert.equal((await logs.grep('a', 1, '\n', 0, { bytes: 8 << 20 })).bytes.length, 100_000, 'lines have a limit too');
});

test('logs that have ended give way when the disk limit is reached, oldest first, and say so as a gap', async () => {
  const logs = store();
  for (const job of ['first', 'second', 'running']) {
    const writer = writerFor(logs, job);
    writer.write(Buffer.alloc(1000, 'x'));
    if (job !== 'running') writer.end();
    await sleep(5);
  }
  const known = () => ['first', 'second', 'running'];
  assert.equal(await logs.retain(2000, known), 1000);
  assert.deepEqual(await logs.extent('first', 1), { start: 1000, size: 1000, ended: true });
  assert.equal((await logs.extent('second', 1)).start, 0);
  assert.equal(await logs.retain(0, known), 0, 'not again so soon');
  now += 600_000;
  assert.equal(await logs.retain(0, known), 1000);
  assert.equal((await logs.extent('running', 1)).start, 0);
  now += 600_000;
  await logs.retain(1e9, () => ['running']);
  assert.equal((await logs.extent('second', 1)).size, 0, 'output of a job that is gone goes too');
  assert.equal((await logs.extent('running', 1)).size, 1000);
});

test('no id leads out of the folder, and ids that differ in case stay apart', () => {
  for (const id of ['..', '.', 'a/b', '../x', 'a\\b', 'CON:1', 'é', 'x'.repeat(300)]) {
    assert.match(folderName(id), /^[A-Za-z0-9_-]*~[0-9a-f]{12}$/);
  }
  assert.notEqual(folderName('Job').toLowerCase(), folderName('job').toLowerCase());
});
