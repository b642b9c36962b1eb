// needs: cluster

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ClusterAnswer } from '../../src/api/types.ts';
import { eventually, TestCluster, TestHome, workersYaml } from '../head/test-cluster.ts';

const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

test('a cluster that is known keeps its file when it is started by name, and a port waits for the next start', async (t) => {
  const home = new TestHome(t);
  const cluster = await TestCluster.up(home, workersYaml({ cpus: 3, max: 2 }));
  const { name } = cluster.folder;
  const refused = await home.run('down', '-n', name);
  assert.deepEqual([refused.code, /add --yes/.test(refused.err)], [2, true], refused.err);
  assert.equal((await home.run('down', '-n', name, '--yes', '--keep-state')).code, 0);
  const started = await home.run('up', '-n', name);
  assert.equal(started.code, 0, started.err);
  const answer = (await cluster.ask('GET', '/api/manta/v1/cluster')).body as ClusterAnswer;
  assert.ok(
    answer.nodeTypes.some(({ resources }) => resources['CPU'] === 3),
    JSON.stringify(answer.nodeTypes),
  );
  const moved = await home.run('up', '-n', name, '--port', '65001');
  assert.match(moved.err, /port 65001 takes effect when the cluster restarts/);
  assert.equal((await home.run('down', '-n', name, '--yes')).code, 0);
});

test('Ctrl-C while a cluster starts leaves neither process nor folder', async (t) => {
  const home = new TestHome(t);
  const child = spawn(process.execPath, [manta, 'up', '-n', 'cut'], { env: home.env, stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const folder = join(home.path, 'clusters', 'cut');
  await eventually('the supervisor starts', async () => existsSync(join(folder, 'supervisor.lock')));
  child.kill('SIGINT');
  const code = await ended;
  // It may have been ready a moment before the signal came.
  if (code === 0) return;
  assert.equal(code, 130);
  assert.deepEqual(home.processes(), []);
  assert.equal(existsSync(folder), false);
});
