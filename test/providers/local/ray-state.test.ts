// needs: ray-client

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { thisHost } from '../../../src/base/this-host.ts';
import type { PlainMap } from '../../../src/core/spec/cluster.ts';
import { prepareAsRay } from '../../../src/core/spec/ray/prepare.ts';
import {
  changeRayState,
  parseRayState,
  type RayState,
  type RayStateEntry,
  rayHead,
  rayStateOf,
  readRayState,
  stateText,
} from '../../../src/providers/local/ray-state/ray-state.ts';
import { headLaunchHash, headRuntimeHashes } from '../../../src/providers/ray-hashes.ts';
import { providers } from '../../../src/providers/table.ts';
import { never, until } from '../../contract/waiting.ts';
import { open } from '../../core/spec/cluster-text.ts';
import { rayCommand, rayPython, runPython } from '../../jobs/ray-python.ts';

const ray = rayPython();
const skip = 'missing' in ray ? ray.missing : false;
const python = 'python' in ray ? ray.python : '';
const options = { signal: never };
const cluster = { cluster: 'own', headHost: '127.0.0.1', workerHosts: ['127.0.0.2', '127.0.0.3', '127.0.0.4'] };
const file = `cluster_name: own
provider: {type: local, head_ip: 127.0.0.1, worker_ips: [127.0.0.2, 127.0.0.3, 127.0.0.4], manta: {pools: {gpu: {hosts: [127.0.1.1]}}}}
auth: {ssh_user: nobody}
`;

let folder: string;
let yaml: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manta-ray-state-'));
  // Ray and Manta alike look for the file below this.
  process.env['RAY_TMPDIR'] = folder;
  yaml = join(folder, 'cluster.yaml');
  writeFileSync(yaml, file);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const host = thisHost();
const stateFile = (): string => join(folder, 'ray/cluster-own.state');
const up: RayStateEntry = { status: 'up-to-date' };

async function runRay(...args: string[]): Promise<{ code: number; stdout: string }> {
  const child = spawn(python, [...rayCommand, ...args], {
    env: { ...process.env, RAY_AUTH_MODE: 'disabled' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 255)));
  return { code, stdout: stdout.trim() };
}

describe("Ray's own commands", { skip }, () => {
  test('find the nodes of a cluster that Manta made', async () => {
    const nodes = new Map([
      ['127.0.0.1', up],
      ['127.0.0.3', up],
      ['127.0.0.4', up],
    ]);
    await changeRayState(host, 'own', (before) => rayStateOf(cluster, nodes, before), options);
    assert.equal((await runRay('get-head-ip', yaml)).stdout, '127.0.0.1');
    assert.equal((await runRay('get-worker-ips', yaml)).stdout, '127.0.0.3\n127.0.0.4');
    const kept = await readRayState(host, 'own', options);
    assert.deepEqual(
      [...(kept ?? [])].filter(([, { state }]) => state === 'running').map(([name]) => name),
      ['127.0.0.3', '127.0.0.4', '127.0.0.1'],
      'Ray has read it and kept it',
    );
  });

  test('show the head as it is seen from outside', async () => {
    writeFileSync(yaml, file.replace('worker_ips', 'external_head_ip: 127.9.9.9, worker_ips'));
    await changeRayState(
      host,
      'own',
      () => rayStateOf({ ...cluster, outside: '127.9.9.9' }, new Map([['127.0.0.1', up]])),
      options,
    );
    assert.equal((await runRay('get-head-ip', yaml)).stdout, '127.9.9.9');
  });

  test('find no head when the cluster is down', async () => {
    await changeRayState(host, 'own', () => rayStateOf(cluster, new Map([['127.0.0.1', up]])), options);
    await changeRayState(host, 'own', (before) => rayStateOf(cluster, new Map(), before), options);
    assert.notEqual((await runRay('get-head-ip', yaml)).code, 0);
    assert.equal((await runRay('get-worker-ips', yaml)).stdout, '');
    await changeRayState(host, 'own', () => undefined, options);
    assert.equal(existsSync(stateFile()), false);
  });
});

/** `ray up` of the head with commands that do nothing, as often as is said. */
const rayUp = `
import sys, yaml
from ray.autoscaler._private import commands
class Runner:
    def check_call(self, *a, **k): return 0
    def check_output(self, *a, **k): return b""
    def call(self, *a, **k): return 0
    def run(self, *a, **k): return type("R", (), {"returncode": 0, "stdout": b"", "stderr": b""})()
for _ in range(int(sys.argv[2])):
    config = commands._bootstrap_config(yaml.safe_load(open(sys.argv[1]).read()))
    commands.get_or_create_head_node(config, sys.argv[1], False, False, True, None, _runner=Runner())
`;

describe('a cluster that `ray up` made', { skip }, () => {
  const preparedOf = (): PlainMap => {
    const { source } = open(file);
    const prepared = source && prepareAsRay(source, providers);
    assert.ok(prepared && 'config' in prepared);
    return prepared.config;
  };
  // The cache that Ray keeps of the file lies in the folder for temporary files, too.
  const made = (times: number): void => {
    process.env['TMPDIR'] = folder;
    try {
      runPython(python, rayUp, [yaml, String(times)]);
    } finally {
      delete process.env['TMPDIR'];
    }
  };

  for (const times of [1, 2])
    test(`is recognised with its hashes after ${times} of it`, async () => {
      made(times);
      const head = rayHead((await readRayState(host, 'own', options)) ?? new Map());
      const config = preparedOf();
      assert.deepEqual(head, {
        host: '127.0.0.1',
        status: 'up-to-date',
        launchHash: headLaunchHash(config),
        runtimeHash: (await headRuntimeHashes(config, folder))[0]?.runtime,
      });
    });

  test('keeps what Ray noted when Manta takes it over', async () => {
    made(1);
    const before = await readRayState(host, 'own', options);
    await changeRayState(host, 'own', (state) => rayStateOf(cluster, new Map([['127.0.0.1', up]]), state), options);
    assert.deepEqual(
      (await readRayState(host, 'own', options))?.get('127.0.0.1')?.tags,
      before?.get('127.0.0.1')?.tags,
    );
  });
});

describe('the file', () => {
  test('is changed by one at a time, Ray among them', { skip }, async () => {
    const names = Array.from({ length: 12 }, (_, index) => `127.0.1.${index + 1}`);
    const wide = { ...cluster, workerHosts: names };
    await changeRayState(host, 'own', () => rayStateOf(wide, new Map([['127.0.0.1', up]])), options);
    const script = `
import sys
from ray.autoscaler._private.local.node_provider import LocalNodeProvider
p = LocalNodeProvider({"type": "local", "head_ip": "127.0.0.1", "worker_ips": sys.argv[1].split(",")}, "own")
for ip in sys.argv[1].split(","): p.set_node_tags(ip, {"by-ray": "yes"})
`;
    const child = spawn(python, ['-c', script, names.join(',')], { stdio: 'ignore' });
    const mark = (name: string) => (before: RayState | undefined) =>
      new Map(
        [...(before ?? [])].map(([key, node]) => [
          key,
          key === name ? { ...node, tags: { ...node.tags, 'by-manta': 'yes' } } : node,
        ]),
      );
    await Promise.all(names.map((name) => changeRayState(host, 'own', mark(name), options)));
    await until('Ray is done', () => child.exitCode !== null);
    const state = await readRayState(host, 'own', options);
    for (const name of names)
      assert.deepEqual(state?.get(name)?.tags, { 'ray-node-type': 'worker', 'by-manta': 'yes', 'by-ray': 'yes' }, name);
  });

  test('is none where there is none, or where it is something else', async () => {
    assert.equal(await readRayState(host, 'own', options), undefined);
    for (const text of ['', '[]', '{"a": 1}', '{"a": {"state": "running"}}', 'half {'])
      assert.equal(parseRayState(text), undefined);
  });

  test('begins anew when the head is another host', () => {
    const old = rayStateOf(
      { ...cluster, headHost: '127.0.0.9' },
      new Map([['127.0.0.9', { status: 'up-to-date', launchHash: 'x' }]]),
    );
    const state = rayStateOf(cluster, new Map([['127.0.0.1', up]]), old);
    assert.deepEqual([...state.keys()], ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1']);
    assert.equal(stateText(state), stateText(parseRayState(stateText(state)) ?? new Map()));
  });

  test('that cannot be written is told, and nothing else', async () => {
    writeFileSync(join(folder, 'ray'), 'in the way');
    await assert.rejects(
      changeRayState(host, 'own', () => rayStateOf(cluster, new Map()), options),
      { code: 'MANTA_LOCAL_RAY_STATE' },
    );
  });

  test('names that mean something to a shell stay names', async () => {
    const name = "a'b $(touch owned) c";
    await changeRayState(
      host,
      name,
      () => rayStateOf({ ...cluster, cluster: name }, new Map([['127.0.0.1', up]])),
      options,
    );
    assert.match(
      readFileSync(join(folder, `ray/cluster-${name}.state`), 'utf8'),
      /"ray-node-name": "ray-a'b \$\(touch owned\) c-head"/,
    );
  });
});
