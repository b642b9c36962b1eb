import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EventKind } from '../../../src/base/events.ts';
import type { Host } from '../../../src/base/host.ts';
import { thisHost } from '../../../src/base/this-host.ts';
import { cargoFolder } from '../../../src/bringup/sync/carry.ts';
import { Archives } from '../../../src/head/ray/files/archives.ts';

const signal = new AbortController().signal;

function bed(t: TestContext, hosts: readonly Host[] = [thisHost()]) {
  const clusterId = `test-${randomBytes(6).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'manta-archives-'));
  const told: string[] = [];
  t.after(() => {
    for (const path of [folder, cargoFolder(clusterId)]) rmSync(path, { recursive: true, force: true });
  });
  const archives = new Archives({
    clusterId,
    folder: join(folder, 'archives'),
    nodes: async () => hosts.map((host) => ({ host, place: { kind: 'host' } })),
    events: { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(kind.text(data)) },
  });
  const ship = async (name: string, content: string): Promise<string> => {
    writeFileSync(join(folder, 'draft'), content);
    return await archives.ship({ path: join(folder, 'draft'), name, bytes: content.length }, signal);
  };
  return { archives, folder, told, ship };
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
  const { folder, ship } = bed(t);
  const old = await ship('old.zip', 'old');
  const longAgo = new Date(Date.now() - 8 * 24 * 3_600_000);
  utimesSync(join(folder, 'archives', 'old.zip'), longAgo, longAgo);
  const fresh = await ship('fresh.zip', 'fresh');
  assert.ok(existsSync(fresh) && !existsSync(old));
});

test('a node that cannot be reached holds nobody up, and is named', async (t) => {
  const gone: Host = { ...thisHost(), name: 'far', connect: () => Promise.reject(new Error('it is switched off')) };
  const { told, ship } = bed(t, [gone, thisHost()]);
  assert.ok(existsSync(await ship('a.zip', 'content')));
  assert.deepEqual(told, ['could not copy a large package to far; jobs that need it fail there: it is switched off']);
});
