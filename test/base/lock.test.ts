import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readLiveJson, writeLiveJson } from '../../src/base/files/json-file.ts';
import { removeStale, takeLock } from '../../src/base/files/lock.ts';
import { identify, type ProcessIdentity } from '../../src/base/process.ts';

const dead = { pid: 2 ** 22 + 1, started: 'before the last boot' };
const self = identify(process.pid) as ProcessIdentity;

function place(t: TestContext): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'manta-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return { folder, path: join(folder, 'a.lock') };
}

test('a lock is held by one, and can be taken when it was released or its holder is gone', (t) => {
  const { folder, path } = place(t);
  const first = takeLock(path);
  assert.ok('lock' in first);
  assert.deepEqual(takeLock(path), { holder: self });
  first.lock.release();
  for (const left of [JSON.stringify(dead), '', '{"pi']) {
    writeFileSync(path, left);
    const taken = takeLock(path);
    assert.ok('lock' in taken, left);
    assert.deepEqual(readLiveJson(path), self);
    taken.lock.release();
  }
  assert.deepEqual(readdirSync(folder), []);
});

test('a stale lock is looked at again before it is removed: somebody may have taken it since', (t) => {
  const { folder, path } = place(t);
  writeLiveJson(path, self);
  removeStale(path, dead);
  assert.deepEqual(readLiveJson(path), self);
  assert.deepEqual(readdirSync(folder), ['a.lock']);
});

test('a lock whose remover was killed is waited for, not asked for without a pause', (t) => {
  const { folder, path } = place(t);
  writeLiveJson(path, dead);
  linkSync(path, `${path}.${dead.pid}-${encodeURIComponent(dead.started)}.stale`);
  const looks = t.mock.method(Date, 'now');
  const taken = takeLock(path);
  assert.ok('lock' in taken);
  assert.ok(looks.mock.callCount() <= 60, `${looks.mock.callCount()} looks`);
  taken.lock.release();
  assert.deepEqual(readdirSync(folder), []);
});

test('a remover that was taken for dead leaves the lock alone that somebody has taken since', (t) => {
  for (const left of ['', JSON.stringify(dead)]) {
    const { folder, path } = place(t);
    writeFileSync(path, left);
    const link = fs.linkSync;
    // It sleeps right after it has given the lock its second name.
    t.mock.method(
      fs,
      'linkSync',
      (from: string, to: string) => {
        link(from, to);
        rmSync(to);
        rmSync(path);
        writeFileSync(path, JSON.stringify(self));
      },
      { times: 1 },
    );
    syncBuiltinESMExports();
    try {
      removeStale(path, readLiveJson(path));
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.deepEqual(readLiveJson(path), self);
    assert.deepEqual(readdirSync(folder), ['a.lock']);
  }
});

test('of many processes that find a stale lock one takes it at a time', async (t) => {
  const { folder, path } = place(t);
  const program = `
    import { openSync, closeSync, unlinkSync, appendFileSync, writeFileSync } from 'node:fs';
    import { takeLock } from ${JSON.stringify(new URL('../../src/base/files/lock.ts', import.meta.url).href)};
    const [path, inside, dead] = process.argv.slice(1);
    process.stdin.once('data', () => {
      for (let round = 0; round < 60; ) {
        const taken = takeLock(path);
        if (!('lock' in taken)) continue;
        closeSync(openSync(inside, 'wx'));
        appendFileSync(inside + '.count', 'x');
        unlinkSync(inside);
        round += 1;
        // Every other time it dies, so to speak, and leaves the lock.
        if (round % 2 === 0) taken.lock.release();
        else writeFileSync(path, dead);
      }
      process.exit(0);
    });
    process.stdout.write('here');`;
  const children = Array.from({ length: 4 }, () =>
    spawn(
      process.execPath,
      ['--input-type=module-typescript', '-e', program, path, join(folder, 'inside'), JSON.stringify(dead)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        timeout: 60_000,
        killSignal: 'SIGKILL',
      },
    ),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.stdin.write('go');
  assert.deepEqual(
    await Promise.all(ended),
    children.map(() => [0, null]),
  );
  assert.equal(readFileSync(join(folder, 'inside.count'), 'utf8').length, 240);
  assert.equal(existsSync(join(folder, 'inside')), false);
});
