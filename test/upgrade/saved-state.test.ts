// needs: cluster
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Job } from '../../src/core/jobs/job.ts';
import { freePort, TestCluster, TestHome } from '../head/test-cluster.ts';

/**
 * The state folder of a cluster that 0.1.0 made and that was ended by `down --keep-state` while the job `waits` ran. It was
 * submitted: `ended-well` with a package, `ended-badly`, `retried` twice, `after` that needs `waits`, `nightly` by cron, the
 * gang `pair`, and `later`; the user `ada` was added, one CPU requested, and the cluster extended.
 */
const saved = fileURLToPath(new URL('state-0.1.0.tar.gz', import.meta.url));

test('a state folder of 0.1.0 is taken over with its jobs, output, users, requests and packages', async (t) => {
  const home = new TestHome(t);
  execFileSync('tar', ['-xzf', saved, '-C', home.path]);
  const { cluster: file } = home.folder('saved').files;
  // A folder belongs to the machine that made it.
  const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...record, machine: hostname(), port: await freePort() }));
  const cluster = await TestCluster.up(home, undefined, '-n', 'saved');

  const ended = async (id: string): Promise<unknown> => {
    const { state, exitCode, errorType, attempts } = await cluster.finish(id);
    return [state, exitCode, errorType, attempts.map(({ cause }) => cause)];
  };
  assert.deepEqual(await ended('ended-well'), ['succeeded', 0, undefined, ['succeeded']]);
  assert.deepEqual(await ended('ended-badly'), ['failed', 3, 'JOB_ENTRYPOINT_COMMAND_ERROR', ['failed']]);
  assert.deepEqual(await ended('retried'), ['failed', 4, 'JOB_ENTRYPOINT_COMMAND_ERROR', ['failed', 'failed']]);
  assert.deepEqual(await ended('waits'), ['failed', 143, 'JOB_SUPERVISOR_ACTOR_DIED', ['node-lost']]);
  assert.deepEqual(await ended('after'), ['failed', undefined, 'JOB_SUPERVISOR_ACTOR_START_FAILURE', []]);
  assert.deepEqual(await ended('pair'), ['succeeded', 0, undefined, ['succeeded']]);
  const { cron, state } = await cluster.job('nightly');
  assert.deepEqual([cron, state], ['0 3 * * *', 'held']);
  assert.deepEqual((await cluster.job('after')).metadata, { team: 'vision' });
  assert.equal((await cluster.job('later')).startAfter, 1_794_910_688_792);

  assert.equal((await cluster.log('ended-well', 1)).toString(), 'hello from the package\n');
  assert.equal((await cluster.log('retried', 2)).toString(), 'try 2\n');
  const { users } = await cluster.get<{ users: readonly { name: string; admin: boolean }[] }>('/users');
  assert.deepEqual(
    users.map(({ name, admin }) => [name, admin]),
    [
      ['owner', true],
      ['ada', false],
    ],
  );
  const { demand } = await cluster.get<{ demand: { standing: unknown } }>('/demand');
  assert.match(JSON.stringify(demand.standing), /"CPU":1/);

  // Its package is there as well: the same work once more needs no upload.
  const again = await cluster.ask('POST', '/api/manta/v1/jobs/ended-well/retry');
  assert.equal(again.status, 200);
  const job: Job = await cluster.finish('ended-well');
  assert.deepEqual([job.state, job.attempts.length], ['succeeded', 2]);
});
