// needs: cluster

import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DaemonLog, openDaemonLog } from '../../src/state/mantad/daemon-log.ts';
import { until } from '../contract/waiting.ts';
import { TestCluster } from '../head/test-cluster.ts';

const largest = 2_000;

function bed(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'manta-log-'));
  const file = join(folder, 'mantad.log');
  const fd = openDaemonLog(file, largest);
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const kept = (): string[] =>
    ['.3', '.2', '.1', ''].flatMap((end) =>
      existsSync(`${file}${end}`) ? readFileSync(`${file}${end}`, 'utf8').split('\n').slice(0, -1) : [],
    );
  return { folder, file, fd, kept };
}

test('a log that grows becomes an old one, without a line lost in between, and few old ones are kept', (t) => {
  const { folder, file, fd, kept } = bed(t);
  const log = new DaemonLog(file, fd, largest);
  for (let line = 0; line < 2_000; line++) {
    log.write(`line ${line}`);
    // The runtime itself, and what was started with it, write past it.
    if (line % 7 === 0) writeSync(fd, `raw ${line}\n`);
    const last = kept();
    assert.equal(last.at(line % 7 === 0 ? -2 : -1), `line ${line}`);
  }
  const numbers = kept()
    .flatMap((line) => /^line (\d+)$/.exec(line)?.[1] ?? [])
    .map(Number);
  assert.ok(numbers.length > 300);
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, index) => 2_000 - numbers.length + index),
  );
  assert.equal(kept().filter((line) => line.startsWith('raw')).length, Math.ceil((numbers.length - 6) / 7));
  assert.deepEqual(readdirSync(folder).sort(), ['mantad.log', 'mantad.log.1', 'mantad.log.2', 'mantad.log.3']);
  for (const name of readdirSync(folder)) assert.ok(statSync(join(folder, name)).size <= largest + 100);
});

test('a log that cannot be rotated goes on', (t) => {
  const { file, fd, folder, kept } = bed(t);
  const log = new DaemonLog(file, fd, largest);
  mkdirSync(`${file}.new`);
  for (let line = 0; line < 500; line++) log.write(`line ${line}`);
  assert.deepEqual(
    kept(),
    Array.from({ length: 500 }, (_, line) => `line ${line}`),
  );
  assert.deepEqual(readdirSync(folder), ['mantad.log']);
});

test('mantad rotates its log while it runs', async (t) => {
  const cluster = await TestCluster.start(t);
  const file = cluster.folder.files.daemonLog;
  const before = readFileSync(file, 'utf8');
  const filler = openSync(file, 'a');
  writeSync(filler, `${'x'.repeat(1023)}\n`.repeat(16 * 1024));
  closeSync(filler);
  // A cluster file that cannot be used is told in the log.
  const record = readFileSync(cluster.folder.files.cluster, 'utf8');
  writeFileSync(cluster.folder.files.cluster, JSON.stringify({ ...JSON.parse(record), format: 99 }));
  process.kill(JSON.parse(readFileSync(cluster.folder.files.serving, 'utf8')).mantad.pid, 'SIGHUP');
  await until('it was told', () => /was not applied/.test(readFileSync(file, 'utf8')));
  writeFileSync(cluster.folder.files.cluster, record);
  assert.ok(statSync(file).size < 10_000);
  assert.equal(statSync(`${file}.1`).size, Buffer.byteLength(before) + 16 * 1024 * 1024);
});
