import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import type { Job } from '../../../src/core/jobs/job.ts';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import { mantaSpec } from '../../../src/core/spec/manta.ts';
import { TurnOffKeeper } from '../../../src/head/turn-off/turn-off.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { createCluster } from '../../../src/state/cluster-record.ts';
import { stateFolder } from '../../../src/state/state-folder.ts';
import { never } from '../../contract/waiting.ts';
import { job } from '../../core/jobs/jobs.ts';

test('a job that comes while the last look is under way keeps the cluster', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-keeper-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'c');
  const time = new VirtualTime(0);
  const clock = new VirtualClock(time);
  createCluster(folder, { role: 'this-machine', createdAt: 0, engine: 'embedded' });
  const jobs: Job[] = [];
  let looks = 0;
  let came = false;
  const begun: number[] = [];
  const keeper = new TurnOffKeeper({
    folder,
    clock,
    events: silent,
    spec: () => ({ provider: { manta: mantaSpec({ idle_shutdown: '60s' }) } }) as unknown as ClusterSpec,
    jobs: () => jobs,
    activity: async () => {
      looks += 1;
      const isLast = clock.now() >= 60_000;
      await clock.sleep(1_000, never);
      if (isLast && !came) jobs.push(job({ id: 'late' }));
      came ||= isLast;
      return [];
    },
    commandUnderWay: () => undefined,
    begin: () => begun.push(clock.now()) > 0,
    failed: (error) => assert.fail(error as Error),
  });
  const ending = new AbortController();
  const running = keeper.run(ending.signal);
  await time.run(300_000);
  assert.ok(looks > 1);
  assert.deepEqual(begun, []);
  jobs.pop();
  await time.run(2_000_000);
  assert.equal(begun.length, 1, 'and it ends when the job is over');
  ending.abort();
  await running;
});
