// needs: cluster

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';

const clusterFile = `cluster_name: tour
provider: {type: process}
max_workers: 4
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
  worker: {resources: {CPU: 2}, max_workers: 4, node_config: {}}
`;

test("the README's tour runs as it is written, and leaves nothing behind", (t) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const tour = /^## A tour\n[^]*?^```sh\n([^]*?)^```/m.exec(readme)?.[1] ?? assert.fail('the README has no tour');
  const folder = mkdtempSync(join(tmpdir(), 'manta-tour-'));
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, MANTA_HOME: join(folder, '.manta') };
  const shell = (script: string): { status: number | null; stdout: string; stderr: string } =>
    spawnSync('/bin/sh', ['-ec', script], { cwd: folder, env, encoding: 'utf8', timeout: 300_000 });
  t.after(() => {
    shell('bin/manta down -y');
    rmSync(folder, { recursive: true, force: true });
  });
  symlinkSync(join(root, 'bin'), join(folder, 'bin'));
  writeFileSync(join(folder, 'cluster.yaml'), clusterFile);
  const { status, stdout, stderr } = shell(tour);
  assert.equal(status, 0, stdout + stderr);
  for (const word of [/^hello$/m, /^=+ Autoscaler status/m, /^demand: /m, /ticket=/, /'default' is down/, /makespan/i])
    assert.match(stdout + stderr, word);
  assert.deepEqual(readdirSync(join(env.MANTA_HOME, 'clusters')), []);
});
