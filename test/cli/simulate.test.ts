import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runManta } from './run-manta.ts';

let folder: string;
let cluster: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'manta-simulate-'));
  cluster = join(folder, 'cluster.yaml');
  writeFileSync(
    cluster,
    `cluster_name: small
provider: {type: aws, region: us-west-2, cache_stopped_nodes: false}
head_node_type: head
max_workers: 2
available_node_types:
  head: {resources: {CPU: 2}, node_config: {ImageId: ami-1}}
  worker: {resources: {CPU: 4}, node_config: {ImageId: ami-1}}
`,
  );
});
after(() => rmSync(folder, { recursive: true }));

test('work that never finishes ends with 1 and the reason for each node type', async () => {
  const { exit, stdout } = await runManta(['simulate', cluster, '--tasks', '5', '--cpus', '999']);
  assert.equal(exit, 1);
  assert.match(stdout, /^makespan +-$/m);
  assert.match(stdout, /^cost +no prices$/m);
  assert.match(stdout, /^work never finished +5$/m);
  assert.match(
    stdout,
    /^ {2}no node type can ever fit 5 tasks of 999 CPU\n {4}head: it has 2 CPU, but 999 CPU is needed\n {4}worker: it has 4 CPU/m,
  );
  assert.doesNotMatch(stdout, /≤/);
  const json = await runManta(['simulate', cluster, '--tasks', '5', '--cpus', '999', '--json']);
  assert.equal(json.exit, 1);
  const { sides } = JSON.parse(json.stdout) as { sides: { unserved: { demand: string; why: string[] }[] }[] };
  assert.deepEqual(
    sides[0]?.unserved.map(({ why }) => why.length),
    [2],
  );
});

test('work that is done ends with 0', async () => {
  const { exit, stdout } = await runManta(['simulate', cluster, '--tasks', '5']);
  assert.equal(exit, 0);
  assert.match(stdout, /^cost +no prices$/m);
  assert.doesNotMatch(stdout, /never finished/);
});

test('numbers that cannot be are refused under one code', async () => {
  for (const words of ['--tasks=1e9', '--tasks=-1', '--tasks=1000000000', '--cpus=-1', '--seeds=0']) {
    const { exit, stderr } = await runManta(['simulate', cluster, words]);
    assert.equal(exit, 2, words);
    assert.match(stderr, /MANTA_CLI_BAD_VALUE/, words);
  }
});
