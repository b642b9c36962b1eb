// needs: cluster

/** The disk that holds the state folder fills up while jobs run, and has room again later. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually, kill, TestCluster, workersYaml } from './test-cluster.ts';

/** A small file system of its own; undefined where this user may not mount one. */
function smallDisk(t: TestContext): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'manta-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48m,mode=0700', 'manta-test', path]);
  t.after(() => {
    if (status === 0) spawnSync('umount', ['-l', path]);
    rmSync(path, { recursive: true, force: true });
  });
  return status === 0 ? path : undefined;
}

/** Takes every byte that is left. */
function fill(folder: string): void {
  const fd = openSync(join(folder, 'filler'), 'a');
  const block = Buffer.alloc(64 << 10, 'x');
  for (let size = block.length; size > 0; ) {
    try {
      writeSync(fd, block, 0, size);
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(fd);
}

test('a full disk refuses new jobs, lets running ones go on, and loses nothing that was acknowledged', async (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) {
    t.skip('optional here: only root may mount a small file system to fill');
    return;
  }
  const outside = mkdtempSync(join(tmpdir(), 'manta-outside-'));
  t.after(() => rmSync(outside, { recursive: true, force: true }));
  const cluster = await TestCluster.start(t, { home: disk, yaml: workersYaml({ cpus: 8, min: 1, max: 1 }) });
  const ticks = (): number => readFileSync(join(outside, 'ticks'), 'utf8').length;

  const before = await cluster.submit({ id: 'before', entrypoint: 'echo kept' });
  await cluster.reach(before.id, 'succeeded');
  await cluster.submit({
    id: 'running',
    entrypoint: `while [ ! -e ${outside}/go ]; do printf . >> ${outside}/ticks; echo tick; sleep 0.05; done; echo last`,
    resources: { CPU: 1 },
  });
  await cluster.submit({
    id: 'ends-meanwhile',
    entrypoint: `while [ ! -e ${outside}/end ]; do sleep 0.05; done; exit 5`,
    resources: { CPU: 1 },
  });
  await cluster.submit({ id: 'waiting', entrypoint: 'echo at last', resources: { CPU: 8 } });
  await cluster.reach('running', 'running');
  await cluster.reach('ends-meanwhile', 'running');
  const daemon = cluster.mantad;
  fill(disk);

  const refused = await eventually('a submission is refused', async () => {
    const answer = await cluster.ask('POST', '/api/manta/v1/jobs', { entrypoint: `true ${'x'.repeat(30_000)}` });
    return answer.status !== 200 && answer;
  });
  assert.equal(refused.status, 507);
  assert.equal((refused.body as { error: { code: string } }).error.code, 'MANTA_STATE_DISK_FULL');
  const { total } = await cluster.get<{ total: number }>('/jobs?limit=1');

  writeEmpty(join(outside, 'end'));
  const seen = ticks();
  await eventually('the running job goes on', () => ticks() > seen + 20);
  assert.equal((await cluster.job('running')).state, 'running');
  assert.equal(cluster.mantad, daemon, 'mantad was not brought down by the full disk');

  // The worst moment to crash: it has to come back once there is room, with everything that was acknowledged.
  kill(daemon as number);
  await eventually('the job outlives mantad on the full disk', () => ticks() > seen + 60);
  rmSync(join(disk, 'filler'));
  assert.equal((await cluster.finish('ends-meanwhile')).exitCode, 5);
  writeEmpty(join(outside, 'go'));
  assert.equal((await cluster.finish('running')).state, 'succeeded');
  assert.match((await cluster.log('running', 1)).toString(), /last\n$/);
  assert.equal((await cluster.finish('waiting')).state, 'succeeded');
  assert.equal((await cluster.log('before', 1)).toString(), 'kept\n');
  assert.equal((await cluster.get<{ total: number }>('/jobs?limit=1')).total, total);
  const after = await cluster.submit({ entrypoint: 'echo room again' });
  assert.equal((await cluster.finish(after.id)).state, 'succeeded');
  assert.equal((await cluster.down()).code, 0);
  assert.deepEqual(cluster.home.processes(), []);
});

const writeEmpty = (path: string): void => closeSync(openSync(path, 'w'));
