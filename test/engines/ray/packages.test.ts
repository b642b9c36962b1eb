import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import { RayPackages, type ShipArchive } from '../../../src/engines/ray/jobs/packages.ts';
import { never, until } from '../../contract/waiting.ts';

/** A folder of a job, and packages that are all too large for a Ray that has none. */
function packagesOf(t: TestContext, shipArchive: ShipArchive) {
  const root = mkdtempSync(join(tmpdir(), 'manta-packages-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'job');
  mkdirSync(folder);
  writeFileSync(join(folder, 'main.py'), 'print()');
  const http = { ask: async () => ({ status: 404, body: Buffer.alloc(0) }) } as unknown as RayHttp;
  const packages = new RayPackages({ dashboard: '', folder: join(root, 'drafts'), uploadLimit: 0, shipArchive }, http);
  return { packages, folder, root };
}

it('a wheel is named by its content as well: another of the same file name is another package', async (t) => {
  const { packages, root } = packagesOf(t, async ({ name }) => `/archives/${name}`);
  const wheel = async (folder: string, name: string, content: string): Promise<string> => {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, name), content);
    return basename(await packages.wheel(join(root, folder, name), never));
  };
  const plain = 'greeting-1.0-py3-none-any.whl';
  const [first, second, same] = [
    await wheel('a', plain, 'one'),
    await wheel('b', plain, 'two'),
    await wheel('c', plain, 'one'),
  ];
  assert.match(first, /^greeting-1\.0-0[0-9a-f]{32}-py3-none-any\.whl$/);
  assert.notEqual(first, second);
  assert.equal(first, same);
  assert.match(
    await wheel('d', 'greeting-1.0-7b-py3-none-any.whl', 'one'),
    /^greeting-1\.0-7b_0[0-9a-f]{32}-py3-none-any\.whl$/,
  );
  assert.equal(await wheel('e', 'none.whl', 'one'), 'none.whl');
});

it('a package that two jobs wait for goes on while one of them does, and is broken off when none does', async (t) => {
  const ships: { arrive: (path: string) => void; signal: AbortSignal }[] = [];
  const { packages, folder } = packagesOf(t, (_, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    signal.addEventListener('abort', () => reject(signal.reason));
    ships.push({ arrive: resolve, signal });
    return promise;
  });
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const one = packages.folder(folder, first.signal);
  const two = packages.folder(folder, second.signal);
  await until('it travels', () => ships.length === 1);
  first.abort();
  await assert.rejects(one, { name: 'AbortError' });
  assert.equal(ships[0]?.signal.aborted, false);
  ships[0]?.arrive('/archives/a.zip');
  assert.equal(await two, 'file:///archives/a.zip');

  const alone = packages.folder(folder, third.signal);
  await until('it travels again', () => ships.length === 2);
  third.abort();
  await assert.rejects(alone, { name: 'AbortError' });
  assert.ok(ships[1]?.signal.aborted);
});
