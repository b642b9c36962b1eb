import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EventKind } from '../../../src/base/events.ts';
import type { Host } from '../../../src/base/host.ts';
import { thisHost } from '../../../src/base/this-host.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { cargoFolder } from '../../../src/bringup/sync/carry.ts';
import { Archives } from '../../../src/head/ray/files/archives.ts';
import { KeptArchives } from '../../../src/head/ray/files/kept-archives.ts';

const signal = new AbortController().signal;
const day = 86_400_000;
const week = 7 * day;

function bed(t: TestContext, hosts: readonly Host[] = [thisHost()]) {
  const clusterId = `test-${randomBytes(6).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'manta-archives-'));
  const told: string[] = [];
  const needed = new Set<string>();
  const later = { time: 0 };
  t.after(() => {
    for (const path of [folder, cargoFolder(clusterId)]) rmSync(path, { recursive: true, force: true });
  });
  const archives = new Archives({
    clusterId,
    kept: new KeptArchives({
      folder: join(folder, 'archives'),
      clock: { ...wallClock, now: () => Date.now() + later.time },
      needed: () => needed,
      limits: { keepBytes: 1_000, keepFor: week },
    }),
    nodes: async () => hosts.map((host) => ({ host, place: { kind: 'host' } })),
    events: { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(kind.text(data)) },
  });
  const ship = async (name: string, content: string): Promise<string> => {
    writeFileSync(join(folder, 'draft'), content);
    return await archives.ship({ path: join(folder, 'draft'), name, bytes: content.length }, signal);
  };
  return { archives, folder, told, needed, later, ship };
}

test('an archive that was shipped is not made again, and comes back to a node that has lost it', async (t) => {
  const { archives, ship } = bed(t);
  const path = await ship('a.zip', 'content');
  assert.equal(readFileSync(path, 'utf8'), 'content');
  rmSync(path);
  assert.equal(await archives.shipped('a.zip', signal), path);
  assert.equal(readFileSync(path, 'utf8'), 'content');
  assert.equal(await archives.shipped('b.zip', signal), undefined);
});

test('an archive that nobody has asked for in a week goes, here and on the nodes', async (t) => {
  const { later, needed, ship } = bed(t);
  const [old, used] = [await ship('old.zip', 'old'), await ship('used.zip', 'used')];
  needed.add('used.zip');
  later.time = week + day;
  const fresh = await ship('fresh.zip', 'fresh');
  assert.deepEqual([old, used, fresh].map(existsSync), [false, true, true]);
});

test('of archives that take too much room those that no attempt needs go, the longest unused first', async (t) => {
  const { later, needed, ship } = bed(t);
  const paths: string[] = [];
  needed.add('a.zip');
  for (const name of ['a.zip', 'b.zip', 'c.zip']) {
    paths.push(await ship(name, 'x'.repeat(400)));
    later.time += day;
  }
  paths.push(await ship('d.zip', 'x'.repeat(100)));
  assert.deepEqual(paths.map(existsSync), [true, false, true, true]);
});

test('what a copy that was killed left behind goes with time', async (t) => {
  const { later, folder, ship } = bed(t);
  await ship('a.zip', 'content');
  const draft = join(folder, 'archives', 'b.zip.0123.new');
  writeFileSync(draft, 'half');
  later.time = week + day;
  await ship('c.zip', 'content');
  assert.ok(!existsSync(draft));
});

test('a node that cannot be reached holds nobody up, and is named', async (t) => {
  const gone: Host = { ...thisHost(), name: 'far', connect: () => Promise.reject(new Error('it is switched off')) };
  const { told, ship } = bed(t, [gone, thisHost()]);
  assert.ok(existsSync(await ship('a.zip', 'content')));
  assert.deepEqual(told, ['could not copy a large package to far; jobs that need it fail there: it is switched off']);
});
