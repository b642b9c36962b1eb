/** Run by `full-disk.test.ts` with a disk of a few megabytes at MANTA_TEST_DISK. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLog } from '../../../src/base/files/log-segments.ts';
import { identify } from '../../../src/base/process.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

test('attempts on a full disk', async (t) => {
  const folder = join(process.env.MANTA_TEST_DISK ?? '', 'cluster');
  mkdirSync(folder);
  const elsewhere = mkdtempSync(join(tmpdir(), 'manta-go-'));
  t.after(() => rmSync(elsewhere, { recursive: true }));
  const cluster = new TestCluster(t, { folder });
  const engine = await cluster.open();
  await cluster.launch('large');
  const loop = 'echo begin; while [ ! -e "$GO/go" ]; do echo line; sleep 0.01; done; echo end; exit 5';
  const long = cluster.order('long', loop, { env: { GO: elsewhere } });
  const short = cluster.order('short', 'while [ ! -e "$GO/short" ]; do sleep 0.01; done; touch "$GO/left"; exit 6', {
    env: { GO: elsewhere },
  });
  await engine.start(long, never);
  await engine.start(short, never);
  const [{ pid: longPid = 0 }] = [await cluster.running('long'), await cluster.running('short')];

  const ballast = join(folder, 'ballast');
  try {
    writeFileSync(ballast, Buffer.alloc(8 << 20));
    assert.fail('the disk should be full');
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
  const order = cluster.order('refused', 'true', { env: { BIG: 'x'.repeat(1 << 16) } });
  await assert.rejects(engine.start(order, never), /ENOSPC/);
  assert.equal(await cluster.report('refused'), undefined);

  // It ends while its end cannot be written: it is not reported until it can.
  writeFileSync(join(elsewhere, 'short'), '');
  await until('it has left', () => existsSync(join(elsewhere, 'left')));
  assert.ok(identify(longPid));

  rmSync(ballast);
  const end = await cluster.ended('short');
  assert.deepEqual([end.cause, end.exitCode], ['failed', 6]);
  assert.equal((await cluster.report('long'))?.state, 'running');
  writeFileSync(join(elsewhere, 'go'), '');
  const last = await cluster.ended('long');
  assert.deepEqual([last.cause, last.exitCode], ['failed', 5]);
  const tail = await readLog(long.log, Math.max(0, last.logSize - 4), 100);
  assert.equal(tail.bytes.toString(), 'end\n');
  await engine.start(order, never);
  assert.equal((await cluster.ended('refused')).cause, 'succeeded');
});
