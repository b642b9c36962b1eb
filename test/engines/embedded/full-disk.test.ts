// needs: cluster

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A small disk of its own is mounted where nobody else sees it. */
test('a full disk refuses new attempts and changes nothing for those that run', async (t) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return t.skip('mounting a small disk needs root on Linux');
  if (spawnSync('unshare', ['-m', 'true']).status !== 0) return t.skip("'unshare' cannot make a mount namespace here");
  const disk = mkdtempSync(join(tmpdir(), 'manta-disk-'));
  t.after(() => rmSync(disk, { recursive: true, force: true }));
  const inside = fileURLToPath(new URL('./inside-small-disk.ts', import.meta.url));
  const script = 'mount -t tmpfs -o size=6m disk "$1" && exec "$2" --test --test-reporter=spec "$3"';
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn('unshare', ['-m', '--', 'sh', '-c', script, 'sh', disk, process.execPath, inside], {
    env: { ...env, MANTA_TEST_DISK: disk },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const hang = setTimeout(() => run.kill('SIGKILL'), 120_000);
  t.after(() => clearTimeout(hang));
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const code = await new Promise((resolve) => run.on('close', resolve));
  assert.equal(code, 0, said);
  assert.match(said, /pass 1/);
});
