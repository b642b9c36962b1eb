import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pruneFolder, touch } from '../../src/base/files/prune.ts';

const now = Date.UTC(2026, 0, 10);

test('of a cache what is old goes, and then what was used longest ago until the rest fits', async (t) => {
  const cache = mkdtempSync(join(tmpdir(), 'manta-cache-'));
  t.after(() => rmSync(cache, { recursive: true }));
  for (const [name, age] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', 40],
  ] as const) {
    mkdirSync(join(cache, name, 'deep'), { recursive: true });
    writeFileSync(join(cache, name, 'deep', 'file'), 'x'.repeat(1_000));
    await touch(join(cache, name), now - age);
  }
  await pruneFolder(cache, now, { keepBytes: 1e9, keepFor: 10 });
  assert.deepEqual(readdirSync(cache).sort(), ['a', 'b', 'c']);
  await pruneFolder(cache, now, { keepBytes: 2_000, keepFor: 10 });
  assert.deepEqual(readdirSync(cache).sort(), ['a', 'b']);
});
