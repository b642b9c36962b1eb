import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeLiveJson } from '../../../src/base/files/json-file.ts';
import { identify } from '../../../src/base/process.ts';
import { setUp } from '../../../src/engines/embedded/agent/environment.ts';
import {
  isReady,
  leaveEnvironments,
  lockOf,
  markReady,
  pruneEnvironments,
  touchEnvironment,
  useEnvironment,
} from '../../../src/engines/embedded/agent/environment-cache.ts';

const hour = 3_600_000;
const now = Date.UTC(2026, 0, 10);

/** A cache with environments of 1,000 bytes, each last used so many hours ago. */
async function cacheOf(t: TestContext, hoursAgo: Readonly<Record<string, number>>) {
  const cache = mkdtempSync(join(tmpdir(), 'manta-environments-'));
  t.after(() => rmSync(cache, { recursive: true }));
  for (const [name, hours] of Object.entries(hoursAgo)) {
    mkdirSync(join(cache, name, 'bin'), { recursive: true });
    writeFileSync(join(cache, name, 'bin', 'python'), 'x'.repeat(1_000));
    await markReady(join(cache, name), name);
    touchEnvironment(join(cache, name), now - hours * hour);
  }
  const left = (): string[] => Object.keys(hoursAgo).filter((name) => isReady(join(cache, name)));
  return { cache, left };
}

const generous = { keepBytes: 1e9, keepFor: 1e12 };

test('an environment that nothing has used for long goes, with its files', async (t) => {
  const { cache, left } = await cacheOf(t, { old: 30, young: 2 });
  await pruneEnvironments(cache, now, { ...generous, keepFor: 24 * hour });
  assert.deepEqual(left(), ['young']);
  assert.equal(existsSync(join(cache, 'old')), false);
  assert.equal(existsSync(lockOf(join(cache, 'old'))), false);
});

test('of environments that take too much room the least recently used go, and no more than have to', async (t) => {
  const { cache, left } = await cacheOf(t, { b: 2, d: 4, a: 1, c: 3 });
  await pruneEnvironments(cache, now, { ...generous, keepBytes: 2_500 });
  assert.deepEqual(left().sort(), ['a', 'b']);
});

test('an environment that an attempt uses stays until it has let go of it, or its agent is gone', async (t) => {
  const { cache, left } = await cacheOf(t, { used: 30, gone: 30 });
  const limits = { ...generous, keepFor: hour };
  useEnvironment(cache, 'used', 'job.1');
  useEnvironment(cache, 'used', 'job.2');
  writeLiveJson(join(cache, 'users', 'job.3~gone'), { ...identify(process.pid), started: 'before the last boot' });
  await pruneEnvironments(cache, now, limits);
  assert.deepEqual(left(), ['used']);
  leaveEnvironments(cache, 'job.1');
  await pruneEnvironments(cache, now, limits);
  assert.deepEqual(left(), ['used']);
  leaveEnvironments(cache, 'job.2');
  await pruneEnvironments(cache, now, limits);
  assert.deepEqual(left(), []);
});

test('an environment that is being built is left alone', async (t) => {
  const { cache, left } = await cacheOf(t, { busy: 30 });
  writeLiveJson(lockOf(join(cache, 'busy')), identify(process.pid));
  await pruneEnvironments(cache, now, { ...generous, keepFor: hour });
  assert.deepEqual(left(), ['busy']);
});

test('environments of an earlier Manta, which do not say their size, count too', async (t) => {
  const { cache, left } = await cacheOf(t, { new: 1, old: 2 });
  writeFileSync(join(cache, 'old.ready'), '["pip","python",[]]');
  utimesSync(join(cache, 'old.ready'), (now - 2 * hour) / 1000, (now - 2 * hour) / 1000);
  await pruneEnvironments(cache, now, { ...generous, keepBytes: 1_500 });
  assert.deepEqual(left(), ['new']);
});

test('what another agent removes in the meantime keeps nobody from pruning, nor from using what is there', async (t) => {
  const { cache, left } = await cacheOf(t, { old: 30, young: 2 });
  symlinkSync('nowhere', join(cache, 'gone.ready'));
  await pruneEnvironments(cache, now, { ...generous, keepFor: 24 * hour });
  assert.deepEqual(left(), ['young']);
  touchEnvironment(join(cache, 'old'), now);
  assert.equal(isReady(join(cache, 'old')), false);
});

test('an attempt gets its environment where the others cannot be pruned', async (t) => {
  const { cache } = await cacheOf(t, {});
  symlinkSync('loop.ready', join(cache, 'loop.ready'));
  await assert.rejects(pruneEnvironments(cache, now), { code: 'ELOOP' });
  const added = await setUp(
    [{ kind: 'pip', packages: ['six'] }],
    {},
    { cache, user: 'job.1', now: () => now, run: async () => 'python', signal: new AbortController().signal },
  );
  assert.ok(isReady(added['VIRTUAL_ENV'] ?? ''));
});
