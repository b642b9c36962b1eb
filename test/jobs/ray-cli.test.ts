// needs: cluster, ray-client

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { rayVersion } from '../../src/core/ray-version.ts';
import { TestCluster } from '../engines/embedded/cluster.ts';
import { type ApiBed, makeApiBed } from './api-bed.ts';
import { assertCase, type ClientCase, clientCases } from './client-cases.ts';
import { rayCommand, rayPython } from './ray-python.ts';
import { ShellRunner } from './shell-runner.ts';

const tools = rayPython();

/** Of Ray's newest client, asking the embedded engine; on Ray they are run by `test/engines/ray/client-cases.ts`. */
const clientsOfEmbedded = [
  'archives of every format are unpacked',
  "a set-up that fails is told in Ray's words",
  'what the engine cannot give is refused by its name',
];

if ('missing' in tools) test("Ray's own command line and Python client", { skip: tools.missing }, () => {});
else {
  describe(`Ray ${tools.version}: command line and Python client`, { concurrency: 2, timeout: 300_000 }, () => {
    const home = mkdtempSync(join(tmpdir(), 'manta-ray-cli-'));
    const runner = new ShellRunner(8);
    let bed: ApiBed;
    before(async () => {
      bed = await makeApiBed({
        runner,
        types: [{ name: 'box', resources: { CPU: 8, memory: 8e9, widget: 2 }, labels: { zone: 'a' }, atMost: 1 }],
      });
    });
    after(async () => {
      await bed.remove();
      runner.close();
      rmSync(home, { recursive: true, force: true });
    });

    const run = (
      command: string,
      args: readonly string[],
      env: Record<string, string> = {},
    ): Promise<{ code: number; out: string }> =>
      new Promise((resolve) => {
        const child = spawn(command, args, {
          cwd: home,
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: home,
            RAY_AUTH_MODE: 'token',
            RAY_AUTH_TOKEN: bed.token,
            RAY_ADDRESS: bed.address,
            ...env,
          },
        });
        let out = '';
        child.stdout.on('data', (chunk) => (out += String(chunk)));
        child.stderr.on('data', (chunk) => (out += String(chunk)));
        child.on('close', (code) => resolve({ code: code ?? -1, out }));
      });
    const job = (...args: string[]) => run(tools.python, [...rayCommand, 'job', ...args]);
    const python = (code: string) =>
      run(tools.python, [
        '-c',
        `from ray.job_submission import JobSubmissionClient, JobStatus\nimport time\nclient = JobSubmissionClient("${bed.address}")\n${code}`,
      ]);

    test('submit waits, shows the output and passes', async () => {
      const { code, out } = await job(
        'submit',
        '--submission-id',
        'waits',
        '--',
        'sh',
        '-c',
        'echo hello from the job; sleep 0.3; echo bye',
      );
      assert.equal(code, 0, out);
      assert.match(out, /hello from the job\nbye/);
      assert.match(out, /Job 'waits' succeeded/);
    });

    test('submit of a job that fails exits with 1 and shows its last lines', async () => {
      const { code, out } = await job('submit', '--', 'sh', '-c', 'echo trouble; exit 7');
      assert.equal(code, 1, out);
      assert.match(out, /failed with exit code 7/);
    });

    test('submit --no-wait, status, logs, list, stop and delete', async () => {
      const submitted = await job(
        'submit',
        '--no-wait',
        '--submission-id',
        'later',
        '--',
        'sh',
        '-c',
        'echo started; sleep 60',
      );
      assert.equal(submitted.code, 0, submitted.out);
      const [status, logs, list] = await Promise.all([job('status', 'later'), job('logs', 'later'), job('list')]);
      assert.match(status.out, /Status for job 'later': RUNNING/);
      assert.match(logs.out, /started/);
      assert.match(list.out, /submission_id='later'/);
      const early = await job('delete', 'later');
      assert.notEqual(early.code, 0, early.out);
      const stopped = await job('stop', 'later');
      assert.deepEqual([stopped.code, /was stopped/.test(stopped.out)], [0, true], stopped.out);
      const deleted = await job('delete', 'later');
      assert.deepEqual([deleted.code, /deleted successfully/.test(deleted.out)], [0, true], deleted.out);
      const gone = await job('status', 'later');
      assert.match(gone.out, /Job later does not exist|does not exist/);
    });

    test('logs -f follows to the end', async () => {
      await job(
        'submit',
        '--no-wait',
        '--submission-id',
        'followed',
        '--',
        'sh',
        '-c',
        'echo tick 1; sleep 2; echo tick 2; sleep 2; echo tick 3',
      );
      const { code, out } = await job('logs', '-f', 'followed');
      assert.equal(code, 0, out);
      assert.match(out, /tick 1\n(?:.*\n)*?tick 3/);
    });

    test('a working directory is shipped, with ignored files left behind and execute bits kept', async () => {
      const folder = join(home, 'project');
      mkdirSync(join(folder, 'pkg'), { recursive: true });
      writeFileSync(join(folder, 'main.sh'), '#!/bin/sh\ncat pkg/data.txt\nls\n', { mode: 0o755 });
      writeFileSync(join(folder, 'pkg/data.txt'), 'shipped data\n');
      writeFileSync(join(folder, 'ignored.log'), 'no');
      writeFileSync(join(folder, '.rayignore'), '*.log\n');
      const first = await job('submit', '--working-dir', folder, '--', './main.sh');
      assert.equal(first.code, 0, first.out);
      assert.match(first.out, /shipped data/);
      assert.doesNotMatch(first.out, /ignored\.log/);
      const second = await job('submit', '--working-dir', folder, '--', 'cat', 'pkg/data.txt');
      assert.match(second.out, /already exists, skipping upload/);
      assert.match(second.out, /shipped data/);
    });

    test('a runtime environment reaches the job, from JSON and from a file', async () => {
      const json = await job(
        'submit',
        '--runtime-env-json',
        '{"env_vars": {"GREETING": "bonjour", "WHERE": "${HOME}/x"}}',
        '--',
        'sh',
        '-c',
        'echo $GREETING $WHERE',
      );
      assert.match(json.out, /bonjour \/home\/ray\/x/);
      writeFileSync(join(home, 'env.yaml'), 'env_vars:\n  GREETING: hola\n');
      const file = await job('submit', '--runtime-env', join(home, 'env.yaml'), '--', 'sh', '-c', 'echo $GREETING');
      assert.match(file.out, /hola/);
    });

    test('a runtime environment that this cluster cannot give is refused with the field and what is supported', async () => {
      const { code, out } = await job('submit', '--runtime-env-json', '{"conda": "nothing"}', '--', 'true');
      assert.equal(code, 1, out);
      assert.match(
        out,
        /status code 400: runtime_env\['conda'\] is not supported by this cluster; supported: env_vars/,
      );
    });

    test('resources of the entrypoint are booked, and what nothing can hold is refused with the reason', async () => {
      const fits = await job(
        'submit',
        '--entrypoint-num-cpus',
        '2',
        '--entrypoint-memory',
        '1000000',
        '--entrypoint-resources',
        '{"widget": 1}',
        '--entrypoint-label-selector',
        '{"zone": "a"}',
        '--',
        'echo',
        'fits',
      );
      assert.equal(fits.code, 0, fits.out);
      const refused = await job('submit', '--entrypoint-num-cpus', '64', '--', 'true');
      assert.notEqual(refused.code, 0);
      assert.match(refused.out, /no node type can fit \{CPU: 64\}/);
    });

    test('errors reach the user: a second id, an unknown job, a wrong token, no token', async () => {
      await job('submit', '--no-wait', '--submission-id', 'dup', '--', 'true');
      const dup = await job('submit', '--no-wait', '--submission-id', 'dup', '--', 'true');
      assert.notEqual(dup.code, 0);
      assert.match(dup.out, /already exists/);
      const [unknown, wrong, none] = await Promise.all([
        job('logs', 'nobody'),
        run(tools.python, [...rayCommand, 'job', 'list'], { RAY_AUTH_TOKEN: 'f'.repeat(64) }),
        run(tools.python, [...rayCommand, 'job', 'list'], { RAY_AUTH_MODE: 'disabled' }),
      ]);
      assert.notEqual(unknown.code, 0);
      assert.match(unknown.out, /does not exist/);
      assert.notEqual(wrong.code, 0);
      assert.match(wrong.out, /Invalid authentication token/);
      assert.notEqual(none.code, 0);
      assert.match(none.out, /Authentication required/);
    });

    test('the Python client submits, lists, reads, tails, stops and deletes', async () => {
      mkdirSync(join(home, 'mymodule'), { recursive: true });
      writeFileSync(join(home, 'mymodule/__init__.py'), 'answer = 42\n');
      const { code, out } = await python(`
import asyncio
jid = client.submit_job(entrypoint="echo one; sleep 0.5; echo two", submission_id="py1", metadata={"k": "v"}, runtime_env={"env_vars": {"A": "secret"}})
assert jid == "py1", jid
async def tail():
    return "".join([x async for x in client.tail_job_logs(jid)])
text = asyncio.run(tail())
assert text == "one\\ntwo\\n", repr(text)
while not client.get_job_status(jid).is_terminal(): time.sleep(0.05)
assert client.get_job_status(jid) == JobStatus.SUCCEEDED
info = client.get_job_info(jid)
assert info.metadata == {"k": "v"} and info.driver_exit_code == 0 and info.runtime_env["env_vars"]["A"] == "secret", info
assert client.get_job_logs(jid) == "one\\ntwo\\n"
assert [j for j in client.list_jobs() if j.submission_id == jid][0].runtime_env["env_vars"]["A"] == "***"
auto = client.submit_job(entrypoint="sleep 60")
assert client.stop_job(auto) is True
while not client.get_job_status(auto).is_terminal(): time.sleep(0.05)
assert client.get_job_status(auto) == JobStatus.STOPPED
assert client.delete_job(auto) is True
mod = client.submit_job(entrypoint="python3 -c 'import mymodule; print(mymodule.answer)'", runtime_env={"py_modules": ["${join(home, 'mymodule')}"]})
while not client.get_job_status(mod).is_terminal(): time.sleep(0.05)
assert client.get_job_logs(mod) == "42\\n", client.get_job_logs(mod)
try:
    client.get_job_status("nobody"); raise SystemExit("no error")
except RuntimeError as e:
    assert "does not exist" in str(e)
print("all well")`);
      assert.equal(code, 0, out);
      assert.match(out, /all well/);
    });
  });
}

const newest = 'missing' in tools || tools.version !== rayVersion ? undefined : tools;
if (newest)
  describe(`Ray ${newest.version}: Python client on the embedded engine`, { timeout: 300_000 }, () => {
    let cases: ReadonlyMap<string, ClientCase>;
    const ended: (() => unknown)[] = [];
    before(async () => {
      const cluster = new TestCluster({ after: (end) => void ended.push(end as () => unknown) });
      const engine = await cluster.open();
      await cluster.launch('head');
      const bed = await makeApiBed({ runner: engine });
      ended.unshift(() => bed.remove());
      const { python } = newest;
      const folder = join(cluster.folder, 'client');
      cases = await clientCases({ python, kind: 'embedded', address: bed.address, token: bed.token, folder });
    });
    after(async () => {
      for (const end of ended) await end();
    });

    for (const name of clientsOfEmbedded) test(name, () => void assertCase(cases, name));
  });
