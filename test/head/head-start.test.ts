import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder, namesIn, writeJson } from '../../src/base/files/json-file.ts';
import { isAlive } from '../../src/base/process.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { type Head, openHead } from '../../src/head/head.ts';
import { openHeadDatabase } from '../../src/head/journal/database.ts';
import { serve } from '../../src/head/server/server.ts';
import { openJobStore } from '../../src/jobs/queue/store.ts';
import { newJob, specOf } from '../../src/jobs/queue/submission.ts';
import { readProcess } from '../../src/providers/process/record.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { removePlace } from '../../src/state/raylet-place.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { never, until } from '../contract/waiting.ts';

/** As the disk of a head is after a power cut: an attempt was under way at a Ray that is not there any more. */
describe('a head that starts while a job is under way and Ray is gone', () => {
  const home = mkdtempSync(join(tmpdir(), 'manta-start-'));
  const folder = stateFolder(home, 'cut');
  let head: Head;

  before(async () => {
    createCluster(folder, {
      role: 'this-machine',
      createdAt: 1,
      engine: 'ray',
      python: { path: '/bin/false', version: '2.60.0' },
    });
    const { database } = openHeadDatabase(folder.files.journal, folder.files.backups, 1);
    const submitted = newJob(specOf({ id: 'long', user: 'owner', entrypoint: 'sleep 1000' }, 'long', 1), 1);
    const attempt = { id: 'long.1', number: 1, accepted: true, startedAt: 1, node: 'ab' };
    const job: Job = { ...submitted, state: 'running', startedAt: 1, attempts: [attempt] };
    await openJobStore(database).change((transaction) => transaction.put(job));
    database.close();
    writeJson(join(makeFolder(join(folder.path, 'attempts', 'ray-attempts')), 'long.1.json'), {
      format: 1,
      id: 'long.1',
      submission: 'long.1',
      log: join(folder.files.logs, 'long', '1'),
      entrypoint: 'sleep 1000',
      accepted: true,
      startedAt: 1,
    });
    head = await openHead(folder, wallClock, {}, () => {});
  });
  after(async () => {
    await head?.close();
    for (const name of namesIn(folder.files.instances)) {
      const agent = readProcess(join(folder.files.instances, name));
      if (agent !== undefined && isAlive(agent)) process.kill(agent.pid, 'SIGKILL');
    }
    removePlace(folder);
    rmSync(home, { recursive: true, force: true });
  });

  it('serves, and starts Ray', async () => {
    const serving = await serve(head, {});
    try {
      assert.equal((await fetch(`${serving.url}/healthz`)).status, 200);
      await until('a head of Ray was started', () =>
        namesIn(folder.files.instances).some((name) => !name.startsWith('.')),
      );
    } finally {
      await serving.close();
    }
  });

  it('keeps the job, and says what it knows of it', () => {
    assert.equal(head.queue.get('long')?.state, 'running');
    assert.equal(head.ready(), false);
  });

  it('takes new jobs, and hands none over before it knows what runs', async () => {
    await head.queue.submit({ id: 'next', user: 'owner', entrypoint: 'true' });
    head.queue.poke();
    await wallClock.sleep(50, never);
    assert.equal(head.queue.get('next')?.state, 'queued');
  });
});
