import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { endLog, logExtent, offsetAt, openLogWriter, readLog } from '../../src/base/files/log-segments.ts';
import { fc } from '../property.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-log-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const folder = (): string => join(root, String(count++));
const now = (): number => 0;

async function readAll(dir: string, from = 0, limit = 7): Promise<{ text: string; gaps: number }> {
  let text = '';
  let gaps = 0;
  for (let at = from; ; ) {
    const piece = await readLog(dir, at, limit);
    if (piece.offset > at) gaps += piece.offset - at;
    text += piece.bytes.toString('latin1');
    if (piece.next === at) return { text, gaps };
    at = piece.next;
  }
}

test('what is written is read back byte for byte, whatever the sizes of writes, reads and segments', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 50 }),
      async (writes, segmentBytes, limit) => {
        const dir = folder();
        const writer = openLogWriter(dir, { segmentBytes, maxBytes: 1 << 20, now });
        for (const bytes of writes) writer.write(bytes);
        writer.end();
        const all = Buffer.concat(writes);
        assert.equal(writer.size, all.length);
        const read = await readAll(dir, 0, limit);
        assert.equal(read.text, all.toString('latin1'));
        assert.equal(read.gaps, 0);
        assert.deepEqual(await logExtent(dir), { start: 0, size: all.length, ended: true });
      },
    ),
    { numRuns: 60 },
  );
});

test('a writer that is opened again goes on behind the last byte', async () => {
  const dir = folder();
  const first = openLogWriter(dir, { segmentBytes: 8, now });
  first.write(Buffer.from('hello '));
  first.close();
  const second = openLogWriter(dir, { segmentBytes: 8, now });
  assert.equal(second.size, 6);
  second.write(Buffer.from('world'));
  assert.equal((await readAll(dir)).text, 'hello world');
});

test('appending at an offset twice writes once, and overlapping bytes are skipped', async () => {
  const dir = folder();
  const writer = openLogWriter(dir, { now });
  assert.equal(writer.write(Buffer.from('abcdef'), 0), 6);
  assert.equal(writer.write(Buffer.from('abcdef'), 0), 6);
  assert.equal(writer.write(Buffer.from('efgh'), 4), 8);
  assert.equal((await readAll(dir)).text, 'abcdefgh');
});

test('old segments go, the others keep their offsets, and the missing bytes are a gap', async () => {
  const dir = folder();
  const writer = openLogWriter(dir, { segmentBytes: 10, maxBytes: 30, now });
  for (let i = 0; i < 10; i++) writer.write(Buffer.from(`line ${i}...\n`));
  writer.end();
  const kept = readdirSync(dir).filter((name) => name.endsWith('.log')).length;
  assert.ok(kept <= 4, `${kept} segments`);
  const extent = await logExtent(dir);
  assert.equal(extent.size, 100);
  assert.ok(extent.start >= 60, String(extent.start));
  const read = await readAll(dir);
  assert.equal(read.gaps, extent.start);
  assert.ok(read.text.endsWith('line 9...\n'));
});

test('bytes beyond the end leave a gap that readers step over', async () => {
  const dir = folder();
  const writer = openLogWriter(dir, { now });
  writer.write(Buffer.from('abc'), 0);
  writer.write(Buffer.from('xyz'), 10);
  assert.deepEqual(await readAll(dir), { text: 'abcxyz', gaps: 7 });
});

test('a log whose writer died is ended where it stands', async () => {
  const dir = folder();
  const writer = openLogWriter(dir, { now });
  writer.write(Buffer.from('abc'));
  writer.close();
  assert.equal((await logExtent(dir)).ended, false);
  assert.deepEqual(await endLog(dir), { start: 0, size: 3, ended: true });
  assert.deepEqual(await endLog(folder()), { start: 0, size: 0, ended: true });
});

test('an instant leads to the first byte that came after it, or a little before', async () => {
  const dir = folder();
  let at = 0;
  const writer = openLogWriter(dir, { segmentBytes: 16, now: () => at });
  for (let i = 0; i < 10; i++) {
    at = i * 1000;
    writer.write(Buffer.from(`line ${i}\n`));
  }
  assert.equal(await offsetAt(dir, 0), 0);
  const offset = await offsetAt(dir, 5000);
  assert.ok(offset >= 4 * 7 && offset <= 5 * 7, String(offset));
});
