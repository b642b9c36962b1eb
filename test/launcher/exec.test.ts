// needs: hosts

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { labProblem } from '../../lab/lab.ts';
import type { Host } from '../../src/base/host.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { launcherErrors } from '../../src/launcher/errors.ts';
import { exec } from '../../src/launcher/exec/exec.ts';
import { never } from '../contract/waiting.ts';
import { type Bed, openBed } from './exec-bed.ts';

const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

test('a command whose host is gone was lost, whatever asking about it fails for', async () => {
  const host = {
    name: 'h1',
    isKept: () => true,
    open: () => spawn('sh', ['-c', 'exit 255']),
    sh: () => Promise.reject(sshErrors.Timeout({ host: 'h1', detail: 'Connection timed out' })),
  } as unknown as Host;
  const request = {
    cluster: 'c1',
    host,
    place: { kind: 'host' },
    command: 'x',
    stdio: 'ignore',
    terminal: false,
  } as const;
  await assert.rejects(exec(request, never), { code: launcherErrors.ExecLost.code });
});

describe('manta exec', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
  });
  after(() => bed?.close());
  const run = (...words: string[]): ReturnType<Bed['manta']> => bed.manta(['exec', 'cluster.yaml', ...words]);

  it('passes output, errors and the exit code of the command on', async () => {
    const { code, stdout, stderr } = await run('hostname; echo oh >&2; exit 7');
    assert.deepEqual([code, stdout, stderr], [7, 'h1\n', 'oh\n']);
  });

  it("passes 255 on, which is also ssh's own word for a lost connection", async () => {
    assert.deepEqual(await run('exit 255'), { code: 255, stdout: '', stderr: '' });
    assert.equal(await bed.head.must('ls -A .manta/nodes/c1'), 'env.sh\n');
  });

  it("gives the command the surroundings of ray exec, and those of the cluster's node", async () => {
    const { stdout } = await run(
      'alias hi="echo aliased"; echo $OMP_NUM_THREADS $PYTHONWARNINGS $RAY_AUTH_MODE; shopt -q login_shell && echo login',
    );
    assert.equal(stdout, '1 ignore token\nlogin\n');
  });

  it('reads .bashrc to its end', async () => {
    await bed.head.must(['sh', '-c', `echo 'export FROM_BASHRC=yes; conda() { echo "conda $1"; }' >> .bashrc`]);
    assert.equal((await run('echo $FROM_BASHRC; conda activate')).stdout, 'yes\nconda activate\n');
  });

  it('takes a line for the shell as one word, and several words as what they are', async () => {
    assert.equal((await run(`echo "a  b" '$HOME' !x | tr a-z A-Z`)).stdout, 'A  B $HOME !X\n');
    assert.equal((await run('--', 'printf', '%s|', 'a  b', "c'd", '$HOME', '')).stdout, "a  b|c'd|$HOME||");
  });

  it('says what is wrong with a line that no shell understands', async () => {
    const { code, stderr } = await run('echo (');
    assert.notEqual(code, 0);
    assert.match(stderr, /syntax error/);
  });

  it('says the limit where a command is too long for a command line', async () => {
    const long = `: ${"'".repeat(30_000)}`;
    const { code, stderr } = await run(long);
    assert.equal(code, 2, stderr.slice(0, 500));
    assert.match(
      stderr,
      /the command is too long: \d+ bytes including quotes, the limit is \d+ \(MANTA_EXEC_COMMAND_TOO_LONG\)/,
    );
  });

  it('carries bytes both ways as they are', async () => {
    const bytes = randomBytes(3_000_000);
    const sum = createHash('sha256').update(bytes).digest('hex');
    assert.match(
      (await bed.manta(['exec', 'cluster.yaml', 'cat > y; sha256sum y'], { input: bytes })).stdout,
      new RegExp(sum),
    );
    assert.match(await bed.laptop.must(`node ${manta} exec cluster.yaml 'cat y' | sha256sum`), new RegExp(sum));
  });

  it('ends what it ran when its connection is lost, and leaves what ignores that', async () => {
    const child = bed.laptop.spawn([
      'node',
      manta,
      'exec',
      'cluster.yaml',
      'nohup sleep 4322 >/dev/null 2>&1 & sleep 4321',
    ]);
    child.stdin?.end();
    const closed = once(child, 'close');
    await bed.runs(bed.head, 'sleep 4321');
    const client = bed.laptop.processes().find(({ command }) => /^ssh .*sleep 4321/s.test(command.join(' ')));
    process.kill(client!.pid, 'SIGKILL');
    await bed.gone(bed.head, 'sleep 4321');
    await closed;
    await bed.runs(bed.head, 'sleep 4322');
    await bed.head.must('kill $(pgrep -f "sleep 432[2]")');
    await bed.gone(bed.head, 'tail -f /dev/null');
  });

  it('ends what it ran when it is told to end', async () => {
    const child = bed.laptop.spawn(['node', manta, 'exec', 'cluster.yaml', 'sleep 4324']);
    const closed = once(child, 'close');
    await bed.runs(bed.head, 'sleep 4324');
    const own = bed.laptop.processes().find(({ command }) => /^node .*sleep 4324/s.test(command.join(' ')));
    process.kill(own!.pid, 'SIGTERM');
    const [code] = await closed;
    assert.equal(code, 143);
    await bed.gone(bed.head, 'sleep 4324');
  });

  it('ends with a reader that has seen enough', async () => {
    assert.equal(await bed.laptop.must(`node ${manta} exec cluster.yaml 'yes 4325' | head -n 1`), '4325\n');
    await bed.gone(bed.head, 'yes 4325');
  });

  it('sends Ctrl-C to the command on a terminal', async () => {
    const program =
      'import time\ntry:\n print("ready", flush=True); time.sleep(99)\nexcept KeyboardInterrupt:\n print("caught"); raise SystemExit(9)';
    const { code, seen } = await bed.inTerminal(
      ['exec', 'cluster.yaml', '--', 'python3', '-c', program],
      [{ after: 'ready', type: '\u0003' }],
    );
    assert.equal(code, 9);
    assert.match(seen, /caught/);
  });

  it('hangs up with its terminal', async () => {
    await bed.inTerminal(['exec', 'cluster.yaml', 'echo up; sleep 4326'], [{ after: 'up', hangUp: true }]);
    await bed.gone(bed.head, 'sleep 4326');
  });

  it('lets a port of this machine lead to the head while it runs, on loopback alone', async () => {
    const program = `python3 -m http.server -d /etc --bind 127.0.0.1 8907 & sleep 1; read -r line; kill $!`;
    const child = bed.laptop.spawn(['node', manta, 'exec', 'cluster.yaml', program, '-p', '8907', '-p', '8908']);
    await bed.runs(bed.head, 'http.server');
    await bed.laptop.must(
      'until curl -sf http://127.0.0.1:8907/hostname || python3 -c "import urllib.request as u; print(u.urlopen(\'http://127.0.0.1:8907/hostname\').read())"; do sleep 0.2; done',
    );
    assert.doesNotMatch(await bed.laptop.must('ss -ltn'), /0\.0\.0\.0:890|\*:890/);
    child.stdin?.end('\n');
    await once(child, 'close');
    assert.doesNotMatch(await bed.laptop.must('ss -ltn'), /:890[78]/);
  });

  it('refuses a port that is taken before anything is started', async () => {
    const holder = bed.laptop.spawn(['python3', '-m', 'http.server', '--bind', '127.0.0.1', '8909']);
    await bed.laptop.must('until ss -ltn | grep -q :8909; do sleep 0.1; done');
    const { code, stderr } = await run('touch began', '-p', '8909');
    holder.kill();
    assert.equal(code, 1);
    assert.match(stderr, /MANTA_EXEC_PORT_BUSY/);
    assert.notEqual((await bed.head.exec('test -e began')).code, 0);
  });

  it('runs nothing where there is no node of the cluster', async () => {
    const { code, stderr } = await run('touch began', '-n', 'other');
    assert.equal(code, 4);
    assert.match(stderr, /the cluster 'other' has no node running on .*MANTA_EXEC_NOT_UP/);
    assert.notEqual((await bed.head.exec('test -e began')).code, 0);
  });

  it('goes where the cluster file says now, not where it said before', async () => {
    assert.equal((await run('hostname')).stdout, 'h1\n');
    await bed.laptop.must(
      `cp cluster.yaml kept.yaml; sed -i 's/head_ip: [^,]*/head_ip: ${bed.worker.address}/; s/worker_ips: .*]/worker_ips: []/' cluster.yaml`,
    );
    assert.equal((await run('hostname')).stdout, 'h2\n');
    await bed.laptop.must('mv kept.yaml cluster.yaml');
    assert.equal((await run('hostname')).stdout, 'h1\n');
  });

  it('says why the head cannot be reached', async () => {
    await bed.laptop.must(
      "ssh-keygen -q -t ed25519 -N '' -f .ssh/stranger; sed s/id_ed25519/stranger/ cluster.yaml > bad.yaml",
    );
    const { code, stderr } = await bed.manta(['exec', 'bad.yaml', '-n', 'elsewhere', 'true']);
    assert.equal(code, 4);
    assert.match(stderr, /MANTA_SSH_AUTH_FAILED/);
  });
});
