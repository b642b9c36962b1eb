import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodeOf } from '../../src/cli/commands/job/follow.ts';
import { quoted } from '../../src/cli/quote.ts';
import { openFront } from '../client/front.ts';
import { gate } from '../contract/gate.ts';
import { patiently, until } from '../contract/waiting.ts';
import { type ApiBed, makeApiBed } from '../jobs/api-bed.ts';
import { ShellRunner } from '../jobs/shell-runner.ts';
import { type Place, type Ran, runManta, startManta } from './job-bed.ts';

const runner = new ShellRunner(4);
const folder = mkdtempSync(join(tmpdir(), 'manta-job-cli-'));
let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({
    runner,
    types: [
      { name: 'box', resources: { CPU: 4 }, labels: {}, atMost: 1 },
      { name: 'slice', resources: { 'TPU-v4-16-head': 1 }, labels: {}, atMost: 2 },
    ],
  });
});
after(async () => {
  await bed.remove();
  runner.close();
  rmSync(folder, { recursive: true, force: true });
});

const here = (more: Place = {}): Place => ({
  cwd: folder,
  ...more,
  env: { RAY_ADDRESS: bed.address, RAY_AUTH_TOKEN: bed.token, ...more.env },
});
const job = (...words: string[]): Promise<Ran> => runManta(['job', ...words], here());
const submitted = async (...words: string[]): Promise<string> => {
  const ran = await runManta(['job', 'submit', '--no-wait', '--json', ...words], here());
  assert.equal(ran.exit, 0, ran.stderr);
  return (JSON.parse(ran.stdout) as { id: string }).id;
};
const over = (id: string) => bed.queue.wait(id, patiently());

describe('manta job submit', () => {
  test('prints the output of the job and nothing else, to the last byte, and exits 0', async () => {
    const ran = await job('submit', '--', 'sh', '-c', "printf 'a\\nb\\377\\000c'; printf err >&2");
    assert.equal(ran.exit, 0);
    assert.deepEqual(ran.bytes, Buffer.concat([Buffer.from('a\nb'), Buffer.from([0xff, 0]), Buffer.from('cerr')]));
    assert.match(ran.stderr, /^Job 'raysubmit_\w{16}' submitted successfully\nJob 'raysubmit_\w{16}' succeeded\n$/);
  });

  test("exits with the job's own exit code when it failed, and says why without repeating its output", async () => {
    const ran = await job('submit', '--', 'sh', '-c', 'echo a trace; exit 7');
    assert.equal(ran.exit, 7);
    assert.equal(ran.stdout, 'a trace\n');
    assert.match(ran.stderr, /error: Job '\w+' failed: Job entrypoint command failed with exit code 7\n$/);
  });

  test('has codes of their own for jobs that were stopped or lost', () => {
    assert.equal(exitCodeOf({ state: 'stopped', exitCode: 143 }), 8);
    assert.equal(exitCodeOf({ state: 'failed', cause: 'node-lost' }), 9);
    assert.equal(exitCodeOf({ state: 'failed', cause: 'time-limit', exitCode: 143 }), 9);
    assert.equal(exitCodeOf({ state: 'failed', cause: 'failed', exitCode: -9 }), 137);
  });

  test('with --no-wait says the id and leaves', async () => {
    const ran = await job('submit', '--no-wait', '--submission-id', 'mine', '--', 'sleep', '0');
    assert.equal(ran.exit, 0);
    assert.equal(ran.stdout, "Job 'mine' submitted successfully\n");
    assert.equal((await over('mine'))?.state, 'succeeded');
  });

  test('the same id with the same content is the same job, with another one it is refused', async () => {
    await job('submit', '--no-wait', '--submission-id', 'twice', '--', 'true');
    assert.equal((await job('submit', '--no-wait', '--submission-id', 'twice', '--', 'true')).exit, 0);
    const other = await job('submit', '--no-wait', '--submission-id', 'twice', '--', 'false');
    assert.equal(other.exit, 1);
    assert.match(other.stderr, /already exists.*\(MANTA_JOB_EXISTS\)/);
  });

  test('with --json prints lines of output and the end', async () => {
    const ran = await runManta(['job', 'submit', '--json', '--', 'echo', 'hi'], here());
    const lines = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(lines[0], { attempt: 1, offset: 0, text: 'hi\n' });
    assert.deepEqual([lines.at(-1)?.['state'], lines.at(-1)?.['exitCode']], ['succeeded', 0]);
  });

  test('words after -- reach the job as they were typed; one word with blanks is a line for the shell', async () => {
    const ran = await job('submit', '--', 'printf', '<%s>', 'a b', "it's", '$HOME', '', '--flag');
    assert.equal(ran.stdout, "<a b><it's><$HOME><><--flag>");
    assert.equal((await job('submit', '--', 'echo one && echo two')).stdout, 'one\ntwo\n');
    assert.equal((await job('submit', 'echo', 'no', 'dashes')).stdout, 'no dashes\n');
    // Python's shlex.quote, case by case.
    assert.deepEqual(['a-b_c.d/e:f,g@h%i+j=k', 'é', '~', ''].map(quoted), [
      'a-b_c.d/e:f,g@h%i+j=k',
      "'é'",
      "'~'",
      "''",
    ]);
  });

  test('a working directory is packed and uploaded once', async () => {
    const dir = join(folder, 'project');
    mkdirSync(join(dir, '__pycache__'), { recursive: true });
    writeFileSync(join(dir, 'run.sh'), 'echo from the folder; ls');
    writeFileSync(join(dir, 'secret.txt'), 'x');
    writeFileSync(join(dir, '.gitignore'), 'secret.txt\n');
    writeFileSync(join(dir, '__pycache__', 'x.pyc'), 'x');
    chmodSync(join(dir, 'run.sh'), 0o755);
    const first = await job('submit', '--working-dir', 'project', '--', './run.sh');
    assert.equal(first.stdout, 'from the folder\nrun.sh\n', first.stderr);
    assert.match(first.stderr, /uploaded project: 2 files/);
    const second = await job('submit', '--working-dir', './project', '--', './run.sh');
    assert.equal(second.stdout, first.stdout);
    assert.match(second.stderr, /is already on the head/);
  });

  test('a runtime environment comes from a YAML file or from JSON, not from both', async () => {
    writeFileSync(join(folder, 'env.yaml'), 'env_vars: {WHO: "yaml"}\n');
    assert.equal((await job('submit', '--runtime-env', 'env.yaml', '--', 'echo $WHO; true')).stdout, 'yaml\n');
    const json = await job('submit', '--runtime-env-json', '{"env_vars": {"WHO": "json"}}', '--', 'echo $WHO; true');
    assert.equal(json.stdout, 'json\n');
    const both = await job('submit', '--runtime-env', 'env.yaml', '--runtime-env-json', '{}', '--', 'true');
    assert.equal(both.exit, 2);
    const bad = await job('submit', '--working-dir', 'nowhere', '--', 'true');
    assert.equal(bad.exit, 2);
    assert.match(bad.stderr, /'nowhere' does not exist/);
  });

  test('what no node type can hold is refused at once, with the reason of the head', async () => {
    const ran = await job('submit', '--entrypoint-num-cpus', '64', '--', 'true');
    assert.equal(ran.exit, 1);
    assert.match(ran.stderr, /can never run on this cluster.*\(MANTA_JOB_INFEASIBLE\)\nhint: /);
  });

  test('options that hold JSON, durations and counts say what they want', async () => {
    for (const [option, value, expected] of [
      ['--metadata-json', '{', /takes JSON/],
      ['--metadata-json', '{"a": 1}', /a JSON object of strings/],
      ['--entrypoint-resources', '{"CPU": 1}', /their own options/],
      ['--retries', 'sometimes', /a number, or a comma-separated list of failed=N/],
      ['--time-limit', 'soon', /a duration/],
      ['--strategy', 'PACK', /only works together with --gang or --bundles/],
      ['--gang', '2', /only works together with the resources of each member/],
      ['--bundles', '{}', /a JSON list/],
      ['--slices', '2', /only works together with --tpu/],
      ['--tpu', 'TPUv4', /a TPU type such as v4-64/],
    ] as const) {
      const ran = await job('submit', option, value, '--', 'true');
      assert.equal(ran.exit, 2, ran.stderr);
      assert.match(ran.stderr, expected);
    }
    assert.match((await job('submit')).stderr, /needs ENTRYPOINT/);
  });

  test("Manta's own options reach the head", async () => {
    const first = await submitted(
      '--priority',
      '5',
      '--retries',
      'failed=2,node-lost=1',
      '--time-limit',
      '90s',
      '--',
      'true',
    );
    const kept = bed.queue.get(first);
    assert.equal(kept?.priority, 5);
    assert.deepEqual(kept?.retries, { failed: 2, nodeLost: 1, preempted: 0, setupFailed: 0 });
    assert.equal(kept?.timeLimit, 90_000);
    const gang = await submitted(
      '--gang',
      '2',
      '--entrypoint-num-cpus',
      '1',
      '--strategy',
      'SPREAD',
      '--depends-on',
      first,
      '--',
      'true',
    );
    assert.deepEqual(bed.queue.get(gang)?.gang, { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'SPREAD' });
    assert.deepEqual(bed.queue.get(gang)?.dependsOn, [first]);
    const slices = await submitted('--tpu', 'v4-16', '--slices', '2', '--', 'true');
    const { gang: asked, retries } = bed.queue.get(slices)!;
    assert.deepEqual(asked, {
      bundles: [{ 'TPU-v4-16-head': 1 }, { 'TPU-v4-16-head': 1 }],
      strategy: 'STRICT_SPREAD',
    });
    assert.deepEqual(
      retries,
      { failed: 0, nodeLost: 0, preempted: 1_000, setupFailed: 0 },
      'it runs again when a slice goes',
    );
    await job('stop', slices);
    assert.match((await job('submit', '--tpu', 'v4-16', '--slices', '3', '--', 'true')).stderr, /MANTA_JOB_INFEASIBLE/);
    const cron = await job('submit', '--cron', '0 3 * * *', '--submission-id', 'nightly', '--', 'true');
    assert.equal(cron.exit, 0);
    assert.match(cron.stderr, /next run at \d{4}-\d\d-\d\d 03:00:00/);
    await job('stop', 'nightly');
  });

  test('follows a job through its retries', async () => {
    const line = 'test -e tried || { echo first; touch tried; exit 1; }; echo second';
    const marker = join(folder, 'tried');
    const ran = await job('submit', '--retries', 'failed=1', '--', line.replaceAll('tried', marker));
    assert.equal(ran.exit, 0, ran.stderr);
    assert.equal(ran.stdout, 'first\nsecond\n');
  });
});

describe('following a job', () => {
  const script =
    'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "line $i of the output"; [ $((i % 40)) = 0 ] && sleep 0.02; done; exit 3';
  const expected = Array.from({ length: 400 }, (_, i) => `line ${i + 1} of the output\n`).join('');

  test('survives lines that break anywhere, and repeats and loses nothing', async (t) => {
    let cut = 2_000;
    const front = await openFront({ port: bed.port, cutAfter: () => (cut += 1_301) });
    t.after(() => front.close());
    const ran = await runManta(['job', 'submit', '--', script], here({ env: { RAY_ADDRESS: front.address } }));
    assert.equal(ran.stdout, expected);
    assert.equal(ran.exit, 3, ran.stderr);
    assert.ok(front.cuts > 3, `${front.cuts} cuts`);
    assert.match(ran.stderr, /lost the connection/);
  });

  test('survives a head that goes away and comes back', async (t) => {
    const [first, second] = [gate(t), gate(t)];
    const entrypoint = `echo one; ${first.wait}; echo two; ${second.wait}; echo three`;
    const running = startManta(['job', 'submit', '--', entrypoint], here());
    await until('the first line is there', () => running.stdout() === 'one\n');
    bed.server.close();
    bed.server.closeAllConnections();
    await until('the loss is told', () => running.stderr().includes('lost the connection'));
    first.open();
    bed.server.listen(bed.port, '127.0.0.1');
    await until('the second line is there', () => running.stdout() === 'one\ntwo\n');
    second.open();
    const ran = await running.ended;
    assert.equal(ran.stdout, 'one\ntwo\nthree\n');
    assert.equal(ran.exit, 0, ran.stderr);
    assert.match(ran.stderr, /reconnected after/);
  });

  test('Ctrl-C without a terminal leaves the job running and says how to come back', async () => {
    const running = startManta(['job', 'submit', '--submission-id', 'left', '--', 'echo on; sleep 30'], here());
    await until('it runs', () => running.stdout() === 'on\n');
    running.pressCtrlC();
    const ran = await running.ended;
    assert.equal(ran.exit, 130);
    assert.match(ran.stderr, /job 'left' keeps running; follow it again with: manta job logs -f left/);
    assert.equal(bed.queue.get('left')?.state, 'running');
    assert.equal((await job('stop', 'left')).exit, 0);
  });

  test('Ctrl-C on a terminal asks; s stops the job and waits for its end', async () => {
    const running = startManta(['job', 'submit', '--', 'echo on; sleep 30'], here({ terminal: true }));
    await until('it runs', () => running.stdout() === 'on\n');
    running.pressCtrlC();
    await until('it asks', () => running.stderr().includes('s = stop it'));
    running.type('s\n');
    const ran = await running.ended;
    assert.equal(ran.exit, 8);
    assert.match(ran.stderr, /was stopped/);
  });

  test('Enter goes on, with what was printed meanwhile', async (t) => {
    const { wait, open } = gate(t);
    const running = startManta(['job', 'submit', '--', `echo on; ${wait}; echo off`], here({ terminal: true }));
    await until('it runs', () => running.stdout() === 'on\n');
    running.pressCtrlC();
    await until('it asks', () => running.stderr().includes('s = stop it'));
    open();
    running.type('\n');
    const ran = await running.ended;
    assert.equal(ran.exit, 0);
    assert.equal(ran.stdout, 'on\noff\n');
  });

  test('a second Ctrl-C, or d, leaves the job running', async () => {
    for (const [name, again] of [
      ['second', (running: ReturnType<typeof startManta>) => running.pressCtrlC()],
      ['word', (running: ReturnType<typeof startManta>) => running.type('d\n')],
    ] as const) {
      const running = startManta(
        ['job', 'submit', '--submission-id', name, '--', 'echo on; sleep 30'],
        here({ terminal: true }),
      );
      await until('it runs', () => running.stdout() === 'on\n');
      running.pressCtrlC();
      await until('it asks', () => running.stderr().includes('s = stop it'));
      again(running);
      assert.equal((await running.ended).exit, 130);
      assert.equal(bed.queue.get(name)?.state, 'running');
      await job('stop', '--no-wait', name);
    }
  });

  test('SIGTERM ends the command, says that the job goes on, and exits 143', async () => {
    const running = startManta(['job', 'submit', '--submission-id', 'termed', '--', 'echo on; sleep 30'], here());
    await until('it runs', () => running.stdout() === 'on\n');
    running.stop();
    const ran = await running.ended;
    assert.equal(ran.exit, 143);
    assert.match(ran.stderr, /job 'termed' keeps running/);
    await job('stop', '--no-wait', 'termed');
  });
});

describe('the other job commands', () => {
  test('logs shows all attempts, one of them, the last lines, lines with a text, and what came after a time', async () => {
    const marker = join(folder, 'logs-tried');
    const line = `test -e ${marker} || { touch ${marker}; seq 1 3; exit 1; }; seq 11 20`;
    const id = await submitted('--retries', '1', '--', line);
    assert.equal((await over(id))?.state, 'succeeded');
    const logs = async (...words: string[]): Promise<string> =>
      (await job('logs', ...words, id)).stdout.replaceAll('\n', ' ');
    assert.equal(await logs(), '1 2 3 11 12 13 14 15 16 17 18 19 20 ');
    assert.equal(await logs('--attempt', '1'), '1 2 3 ');
    assert.equal(await logs('--tail', '2'), '19 20 ');
    assert.equal(await logs('--grep', '3'), '3 13 ');
    assert.equal(await logs('--grep', '1', '--tail', '3'), '17 18 19 ');
    assert.equal(await logs('--since', '1h'), '1 2 3 11 12 13 14 15 16 17 18 19 20 ');
    assert.equal(await logs('-f'), '1 2 3 11 12 13 14 15 16 17 18 19 20 ');
    assert.equal(await logs('-f', '--tail', '1'), '20 ');
    assert.equal(await logs('-f', '--grep', '2'), '2 12 20 ');
    assert.equal(await logs('-f', '--attempt', '1'), '1 2 3 ');
    const bad = await job('logs', '--since', 'yesterday', id);
    assert.equal(bad.exit, 2);
  });

  test('logs -f of a running job goes on to its end', async () => {
    const id = await submitted('--', 'echo a; sleep 0.3; echo b; exit 4');
    const ran = await job('logs', '-f', id);
    assert.equal(ran.stdout, 'a\nb\n');
    assert.equal(ran.exit, 0);
  });

  test('a log larger than one answer comes whole', async () => {
    const id = await submitted('--', "head -c 20000000 /dev/zero | tr '\\0' x; echo end");
    await over(id);
    const ran = await job('logs', id);
    assert.equal(ran.bytes.length, 20_000_004);
    assert.equal((await job('logs', '-f', id)).bytes.length, 20_000_004);
  });

  test('list, status, wait, retry and delete', async () => {
    const id = await submitted('--metadata-json', '{"k": "v"}', '--', 'echo hi; exit 5');
    assert.equal((await job('wait', id)).exit, 5);
    const status = await job('status', id);
    assert.equal(status.exit, 0);
    assert.match(status.stdout, new RegExp(`^Job '${id}' failed\n.*exit code 5`));
    assert.match(
      (await job('list', '--state', 'failed')).stdout,
      new RegExp(`JOB .*\n${id} +failed +ada +\\S+ +\\S+ +5 +echo hi`),
    );
    const rows = (await runManta(['job', 'list', '--json', '--search', id], here())).stdout;
    assert.equal((JSON.parse(rows) as { id: string }).id, id);
    const again = await job('retry', id);
    assert.equal(again.exit, 5);
    assert.equal(again.stdout, 'hi\n');
    assert.equal((await job('delete', id)).stdout, `Job '${id}' deleted successfully\n`);
    const gone = await job('status', id);
    assert.equal(gone.exit, 1);
    assert.match(gone.stderr, new RegExp(`job '${id}' does not exist \\(MANTA_JOB_NOT_FOUND\\)`));
  });

  test('stop waits for the end; a job that has not stopped cannot be deleted; wait gives up when the time is up', async () => {
    const id = await submitted('--', 'sleep 30');
    const late = await job('wait', '--timeout', '100ms', id);
    assert.equal(late.exit, 1);
    assert.match((await job('delete', id)).stderr, /has not finished/);
    const stopped = await job('stop', id);
    assert.equal(stopped.exit, 0);
    assert.match(stopped.stdout, new RegExp(`^Job '${id}' was stopped\n`));
    assert.equal((await job('wait', id)).exit, 8);
  });

  test("somebody else's job is refused with the words of the head", async () => {
    const id = await submitted('--', 'true');
    await over(id);
    const token = await bed.tokenOf('eve');
    const ran = await runManta(['job', 'logs', id], here({ env: { RAY_AUTH_TOKEN: token } }));
    assert.equal(ran.exit, 4);
    assert.match(ran.stderr, /only the owner of job/);
  });
});
