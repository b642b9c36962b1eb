// needs: cluster, ray

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ran, runManta } from '../cli/job-bed.ts';
import { until } from '../contract/waiting.ts';
import { freePort } from '../head/test-cluster.ts';
import { noRay, rayCommand, rayPythons } from '../jobs/ray-python.ts';
import { openFront } from './front.ts';

const [tools] = rayPythons();

test('the job commands work with a real Ray head', {
  skip: tools === undefined ? noRay : false,
  timeout: 480_000,
}, async (t) => {
  // Ray's sockets stand below it, and their paths must be short.
  const folder = mkdtempSync(join(tmpdir(), 'mr-'));
  const token = randomBytes(32).toString('hex');
  const [port, dashboard, agent] = [await freePort(), await freePort(), await freePort()];
  const words = [
    'start',
    '--head',
    '--block',
    '--no-monitor',
    '--disable-usage-stats',
    '--num-cpus',
    '2',
    '--temp-dir',
    folder,
  ];
  const ports = [
    '--port',
    port,
    '--dashboard-port',
    dashboard,
    '--dashboard-agent-listen-port',
    agent,
    '--ray-client-server-port',
    await freePort(),
  ];
  const workers = ['--min-worker-port', '30100', '--max-worker-port', '30300'];
  const head = spawn(tools!.python, [...rayCommand, ...words, ...ports.map(String), ...workers], {
    stdio: 'ignore',
    detached: true,
    env: {
      ...process.env,
      HOME: folder,
      RAY_AUTH_MODE: 'token',
      RAY_AUTH_TOKEN: token,
      RAY_ADDRESS: '',
      // A dashboard whose parts take longer than half a minute ends itself, and no job can be submitted then.
      RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: '180',
    },
  });
  t.after(async () => {
    await end(head);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const env = { RAY_ADDRESS: `http://127.0.0.1:${dashboard}`, RAY_AUTH_TOKEN: token };
  const job = (...rest: string[]): Promise<Ran> => runManta(['job', ...rest], { env, cwd: folder });
  await until('Ray takes jobs', async () => (await job('submit', '--no-wait', '--', 'true')).exit === 0);

  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'run.sh'), 'echo from the folder; printf end; exit 3');
  const ran = await job(
    'submit',
    '--submission-id',
    'one',
    '--working-dir',
    'project',
    '--entrypoint-num-cpus',
    '1',
    '--',
    'sh',
    'run.sh',
  );
  assert.equal(ran.exit, 3, ran.stderr);
  // Ray itself may write its own lines before, behind and in the middle of the job's.
  assert.match(ran.stdout, /from the folder\nend/);
  assert.equal((await job('logs', 'one')).stdout, ran.stdout);
  assert.equal((await job('logs', '-f', 'one')).stdout, ran.stdout);
  assert.match((await job('status', 'one')).stdout, /^Job 'one' failed\n/);
  assert.match((await job('list')).stdout, /\none +failed /);
  const again = await job('submit', '--no-wait', '--submission-id', 'one', '--', 'true');
  assert.equal(again.exit, 1);
  assert.match(again.stderr, /^error: Job with submission_id one already exists/);

  let cut = 3_000;
  const front = await openFront({ port: dashboard, cutAfter: () => (cut += 1_500) });
  t.after(() => front.close());
  const script =
    'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "zeile $i äöü"; [ $((i % 100)) = 0 ] && sleep 0.3; done; printf last';
  const followed = await runManta(['job', 'submit', '--', script], { env: { ...env, RAY_ADDRESS: front.address } });
  const expected = `${Array.from({ length: 400 }, (_, i) => `zeile ${i + 1} äöü\n`).join('')}last`;
  // Ray's own lines come whenever they come, also behind a line of the job that has no end.
  const raysLines = /(?:\d{4}-\d\d-\d\d \d\d:|Running entrypoint for job )[^\n]*\n?/g;
  assert.equal(followed.stdout.replace(raysLines, ''), expected, followed.stderr);
  assert.ok(front.cuts > 1, `${front.cuts} cuts`);

  await job('submit', '--no-wait', '--submission-id', 'long', '--', 'sleep', '300');
  assert.match((await job('stop', 'long')).stdout, /^Job 'long' was stopped\n/);
  assert.equal((await job('wait', 'long')).exit, 8);
  assert.equal((await job('delete', 'long')).exit, 0);
  assert.match((await job('status', 'long')).stderr, /Job long does not exist/);
});

/** `--block` ends its children when it is asked to end; what is left of its session is killed. */
async function end(head: ChildProcess): Promise<void> {
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-head.pid!, name);
    } catch {
      // Gone already.
    }
  };
  const closed = new Promise<void>((resolve) =>
    head.exitCode === null ? head.once('close', () => resolve()) : resolve(),
  );
  signal('SIGTERM');
  const hard = setTimeout(() => signal('SIGKILL'), 20_000);
  await closed;
  clearTimeout(hard);
  signal('SIGKILL');
}
