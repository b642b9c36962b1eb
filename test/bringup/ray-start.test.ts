// needs: hosts

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { noTokenModeCode, startProgram, versionMismatchCode } from '../../src/bringup/ray/start.ts';
import { hasTokenMode, rayVersions, startedVersions } from '../../src/bringup/ray/versions.ts';
import { never } from '../contract/waiting.ts';
import { namespaceHost, namespacesMissing } from './namespace-host.ts';

const skip = namespacesMissing() ?? false;
const here = { kind: 'host' } as const;

const head: NodeOrder = {
  cluster: 'lab',
  instance: 'host 1',
  kind: 'head',
  type: "it's a head",
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  resources: { CPU: 4, 'my "thing"': 1 },
  loginShells: true,
  usageStats: false,
  token: 'a-token-that-nobody-guesses',
  dashboardPort: 8266,
};

/** A host whose `ray` says how it was called. Its Ray has versions, as an installed one has. */
async function hostWithFakeRay(t: TestContext, version = '2.60.0'): Promise<Host> {
  const host = await namespaceHost(t, '/tmp/venv/bin');
  const { stderr } = await host.sh(
    `mkdir -p /tmp/venv/bin /tmp/venv/site/ray-${version}.dist-info .manta/nodes/lab
printf 'Metadata-Version: 2.1\\nName: ray\\nVersion: ${version}\\n' >/tmp/venv/site/ray-${version}.dist-info/METADATA
printf '#!/bin/sh\\nPYTHONPATH=/tmp/venv/site exec python3 "$@"\\n' >/tmp/venv/bin/python
cat >/tmp/venv/bin/ray <<'END'
#!/tmp/venv/bin/python
import os, sys
print('ray', *sys.argv[1:])
wanted = ('RAY_', 'MANTA_', 'BASH_FUNC')
for name in sorted(os.environ):
    if name.startswith(wanted): print(f'  {name}={os.environ[name]}')
END
chmod +x /tmp/venv/bin/*`,
    { signal: never },
  );
  assert.equal(stderr, '');
  return host;
}

const calls = (output: string): string[] => output.split('\n').filter((line) => line.startsWith('ray '));

test('a start of the head gets its flags, whatever the shell text around it', { skip }, async (t) => {
  const host = await hostWithFakeRay(t);
  const flags = '--no-monitor --dashboard-host=127.0.0.1 --dashboard-port=8266';
  const texts = {
    'ray start --head': `ray start --head ${flags}`,
    'ulimit -n 1024; ray start --head --port=6379': `ray start --head --port=6379 ${flags}`,
    'export X=1; ray start --head --dashboard-host=0.0.0.0': `ray start --head --dashboard-host=0.0.0.0 ${flags}`,
    'ray stop && ulimit -c unlimited && ray start --head': `ray start --head ${flags}`,
    "bash -c 'ray start --head'": `ray start --head ${flags}`,
    '(cd /; ray start --head)': `ray start --head ${flags}`,
    'if true; then ray start --head \\\n  --port=6379; fi': `ray start --head --port=6379 ${flags}`,
    'export PATH=/tmp/other:$PATH; . /tmp/home/.bashrc; ray start --head': `ray start --head ${flags}`,
    'ray --logging-level info start --head': `ray --logging-level info start --head ${flags}`,
    [`ray start --head --resources='{"a b": 1}'`]: `ray start --head --resources={"a b": 1} ${flags}`,
    'NODE=1 ray start --address=10.0.0.1:6379': 'ray start --address=10.0.0.1:6379',
    'ray status': 'ray status',
    'ray start --head --help': `ray start --head --help ${flags}`,
  };
  for (const loginShells of [true, false]) {
    for (const [text, call] of Object.entries(texts)) {
      const program = startProgram({ ...head, loginShells }, here, `PATH=/tmp/venv/bin:$PATH; ${text}`);
      const { code, stdout, stderr } = await host.sh(program, { signal: never });
      assert.deepEqual({ code, calls: calls(stdout), stderr }, { code: 0, calls: [call], stderr: '' }, text);
    }
  }
});

test('Ray tells the head sooner of demand and of dead raylets, unless somebody has set how soon', {
  skip,
}, async (t) => {
  const host = await hostWithFakeRay(t);
  const told = async (order: NodeOrder, text: string): Promise<string[]> =>
    (await host.sh(startProgram(order, here, text), { signal: never })).stdout.match(/RAY_(gcs|health|report)\S+/g) ??
    [];
  const pull = 'RAY_gcs_pull_resource_loads_period_milliseconds';
  const backlog = 'RAY_report_worker_backlog_interval_ms=200';
  const [few, many] = [
    { ...head, mostWorkers: 4 },
    { ...head, mostWorkers: 1_000 },
  ];
  assert.deepEqual(await told(few, 'ray start --head'), [`${pull}=100`, 'RAY_health_check_period_ms=1000', backlog]);
  assert.deepEqual(await told(many, 'ray start --head'), [`${pull}=1000`, 'RAY_health_check_period_ms=1000', backlog]);
  const own = await told(few, `export ${pull}=700; RAY_health_check_period_ms=9 ray start --head`);
  assert.deepEqual(own, [`${pull}=700`, 'RAY_health_check_period_ms=9', backlog]);
  assert.deepEqual(await told({ ...few, kind: 'worker' }, 'ray start --address=$RAY_HEAD_IP:6379'), []);
});

test('Ray sees what Manta sets, and nothing of the function around it', { skip }, async (t) => {
  const host = await hostWithFakeRay(t);
  const { stdout } = await host.sh(startProgram(head, here, 'export RAY_X=1; ray start --head'), { signal: never });
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.startsWith('  ')),
    [
      'MANTA_FILES=',
      'MANTA_MARK=:lab/host%201:',
      'RAY_AUTH_MODE=token',
      'RAY_AUTH_TOKEN_PATH=/tmp/home/.manta/nodes/lab/token',
      'RAY_CLOUD_INSTANCE_ID=host 1',
      'RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT=180',
      'RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL=minor',
      'RAY_JOB_START_TIMEOUT_SECONDS=315360000',
      'RAY_JOB_STOP_WAIT_TIME_S=60',
      "RAY_NODE_TYPE_NAME=it's a head",
      'RAY_OVERRIDE_RESOURCES={"CPU":4,"my \\"thing\\"":1}',
      'RAY_USAGE_STATS_ENABLED=0',
      'RAY_X=1',
      'RAY_enable_autoscaler_v2=1',
      'RAY_gcs_pull_resource_loads_period_milliseconds=250',
      'RAY_health_check_period_ms=1000',
      'RAY_report_worker_backlog_interval_ms=200',
    ].map((line) => `  ${line}`),
  );
  const worker: NodeOrder = { ...head, kind: 'worker' };
  const other = (await host.sh(startProgram(worker, here, 'ray start --address=$RAY_HEAD_IP:6379'), { signal: never }))
    .stdout;
  assert.match(other, /^ray start --address=10\.0\.0\.1:6379$/m);
  assert.match(other, /RAY_JOB_STOP_WAIT_TIME_S=60/);
  assert.doesNotMatch(other, /enable_autoscaler_v2|USAGE_STATS/);
});

test('an IPv6 address of the head stands in brackets before a port, written by the user or not', {
  skip,
}, async (t) => {
  const host = await hostWithFakeRay(t);
  const worker: NodeOrder = { ...head, kind: 'worker', headAddress: 'fd77::b' };
  const started = async (text: string): Promise<string | undefined> =>
    /^ray start .*$/m.exec((await host.sh(startProgram(worker, here, text), { signal: never })).stdout)?.[0];
  for (const text of ['$RAY_HEAD_IP', '[$RAY_HEAD_IP]', '"[${RAY_HEAD_IP}]"'])
    assert.equal(await started(`ray start --address=${text}:6379`), 'ray start --address=[fd77::b]:6379');
});

test('a token in the environment of the user is not taken for the token of the cluster', { skip }, async (t) => {
  const host = await hostWithFakeRay(t);
  await host.sh('echo export RAY_AUTH_TOKEN=another >>.bashrc', { signal: never });
  const { stdout } = await host.sh(startProgram(head, here, 'ray start --head'), { signal: never });
  assert.doesNotMatch(stdout, /RAY_AUTH_TOKEN=/);
});

test('a start that fails, or finds no Ray, fails with its own code', { skip }, async (t) => {
  const host = await hostWithFakeRay(t);
  const run = (text: string) => host.sh(startProgram(head, here, text), { signal: never });
  assert.equal((await run('ray start --head && exit 3')).code, 3);
  const gone = await run('PATH=/usr/bin:/bin; ray start --head');
  assert.deepEqual([gone.code, /command not found/.test(gone.stderr)], [127, true]);
});

test('the versions of Ray and Python are read without Ray being run', { skip }, async (t) => {
  const host = await hostWithFakeRay(t, '2.51.2');
  const found = await rayVersions(host, head, here, never);
  assert.equal(found?.ray, '2.51.2');
  assert.match(found?.python ?? '', /^3\.\d+\.\d+$/);
  assert.equal(found && hasTokenMode(found), false);
  assert.equal(hasTokenMode({ ray: '2.52.0', python: '3.11.2' }), true);
  assert.equal(hasTokenMode({ ray: '3.0.0.dev0', python: '3.11.2' }), true);
  await host.sh(
    `mkdir -p '/tmp/a folder'; mv /tmp/venv/bin/python '/tmp/a folder'; cat >/tmp/venv/bin/ray <<'END'
#!/bin/sh
'''exec' "/tmp/a folder/python" "$0" "$@"
' '''
END`,
    { signal: never },
  );
  assert.deepEqual(
    await rayVersions(host, head, here, never),
    found,
    'pip starts a Python with a blank in its path so',
  );
  await host.sh('rm /tmp/venv/bin/ray', { signal: never });
  assert.equal(await rayVersions(host, head, here, never), undefined);
});

test('a worker with another Ray than its head is refused before Ray is started', { skip }, async (t) => {
  const host = await hostWithFakeRay(t, '2.59.0');
  const { python } = (await rayVersions(host, head, here, never)) ?? { python: '' };
  const worker: NodeOrder = { ...head, kind: 'worker' };
  const run = (ray: string, on = python) =>
    host.sh(startProgram(worker, here, 'ray start --address=$RAY_HEAD_IP:6379', { versions: { ray, python: on } }), {
      signal: never,
    });
  const refused = await run('2.60.0');
  assert.equal(refused.code, versionMismatchCode);
  assert.deepEqual(calls(refused.stdout), []);
  assert.match(refused.stderr, /this node has Ray 2\.59\.0 on Python .*, its head has Ray 2\.60\.0/);
  assert.equal((await run('2.59.0', '3.6.1')).code, versionMismatchCode);
  assert.equal((await run('2.59.0', `${python.replace(/\d+$/, '')}99`)).code, 0, 'another patch release will do');
  assert.deepEqual(await startedVersions(host, worker, here, never), { ray: '2.59.0', python });
});

test('where no Ray runs `ray stop` says so without starting Ray', { skip }, async (t) => {
  const host = await hostWithFakeRay(t);
  const { code, stdout } = await host.sh(startProgram(head, here, 'ray stop --force'), { signal: never });
  assert.deepEqual([code, stdout], [0, 'Did not find any active Ray processes.\n']);
});

test('a Ray that knows no token is not started where one is needed', { skip }, async (t) => {
  const codeOf = async (version: string): Promise<number> => {
    const host = await hostWithFakeRay(t, version);
    const program = startProgram(head, here, 'ray stop; ray start --head', { tokenMode: true });
    const { code, stdout } = await host.sh(program, { signal: never });
    assert.equal(calls(stdout).length, code === 0 ? 1 : 0);
    return code;
  };
  assert.equal(await codeOf('2.51.2'), noTokenModeCode);
  assert.equal(await codeOf('2.52.0'), 0);
  assert.equal(await codeOf('3.0.0.dev0'), 0);
});
