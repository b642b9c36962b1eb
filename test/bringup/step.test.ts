// needs: sshd

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { suite, test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { processTable } from '../../src/base/process.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { sshHost } from '../../src/base/ssh/host.ts';
import { thisHost } from '../../src/base/this-host.ts';
import { bringupErrors } from '../../src/bringup/errors.ts';
import type { StepOptions, StepResult } from '../../src/bringup/steps/step.ts';
import { endSteps, runStep } from '../../src/bringup/steps/step.ts';
import type { SshdOptions, TestSshd } from '../base/test-sshd.ts';
import { missing, startSshd } from '../base/test-sshd.ts';
import { never as signal, until } from '../contract/waiting.ts';

interface Bed {
  readonly sshd: TestSshd;
  readonly host: Host;
  readonly folder: string;
  /** Runs a step and gives back what it said, checked to be without gap or overlap. */
  readonly run: (
    id: string,
    program: string,
    options?: Partial<StepOptions>,
  ) => Promise<StepResult & { output: string }>;
}

async function bed(t: TestContext, options: SshdOptions = {}, over?: (sshd: TestSshd) => Host): Promise<Bed> {
  const sshd = await startSshd(t, options);
  const host = over?.(sshd) ?? sshHost(sshd.target());
  const folder = join(sshd.folder, 'steps');
  return {
    sshd,
    host,
    folder,
    async run(id, program, more = {}) {
      const pieces: Buffer[] = [];
      let at: number | undefined;
      const result = await runStep(
        host,
        { folder, id, program, shell: 'bash' },
        {
          signal,
          ...more,
          onOutput(bytes, offset) {
            if (at !== undefined) assert.equal(offset, at);
            at = offset + bytes.length;
            pieces.push(Buffer.from(bytes));
            more.onOutput?.(bytes, offset);
          },
        },
      );
      return { ...result, output: Buffer.concat(pieces).toString('latin1') };
    },
  };
}

const lost = (why: string) => (error: unknown) => {
  assert.ok(bringupErrors.StepLost.is(error), String(error));
  assert.equal(error.data.why, why);
  return true;
};

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join('');
const skip = missing() ?? false;

for (const where of ['over SSH', 'on this machine'])
  suite(`a step ${where}`, { skip }, () => {
    const start = (t: TestContext): Promise<Bed> => bed(t, {}, where === 'over SSH' ? undefined : () => thisHost());

    test('gives its output and its exit code', async (t) => {
      const { run, folder } = await start(t);
      assert.deepEqual(await run('a', 'echo out; echo err >&2; cat'), { code: 0, output: 'out\nerr\n' });
      assert.deepEqual(await run('b', 'printf half; exit 7'), { code: 7, output: 'half' });
      assert.deepEqual(await run('c', 'exit 255'), { code: 255, output: '' });
      assert.equal((await run('d', 'kill -9 $$')).code, 137);
      assert.deepEqual(await run('e', "if then 'oops"), { code: 2, output: (await run('e', '')).output });
      assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o700);
    });

    test('is run once, whoever asks and however often', async (t) => {
      const { run, sshd } = await start(t);
      const log = join(sshd.folder, 'log');
      const program = `echo begun >>${log}; sleep 0.3; echo said`;
      const results = await Promise.all([run('a', program), run('a', program), run('a', program)]);
      results.push(await run('a', program));
      for (const result of results) assert.deepEqual(result, { code: 0, output: 'said\n' });
      assert.equal(readFileSync(log, 'utf8'), 'begun\n');
    });

    test('says ten megabytes, byte for byte', async (t) => {
      const { run } = await start(t);
      const { output } = await run('a', 'head -c 10000000 /dev/zero | tr "\\0" "\\377"; printf end');
      assert.ok(output === `${'\xff'.repeat(10_000_000)}end`);
    });

    test('runs in a session of its own, without input, and outlives an abort of the following', async (t) => {
      const { run, sshd } = await start(t);
      const go = join(sshd.folder, 'go');
      const stop = new AbortController();
      const program = `ps -o sid= -p $$; echo $PPID; until [ -e ${go} ]; do sleep 0.05; done; echo more`;
      let said = '';
      const following = run('a', program, {
        signal: stop.signal,
        onOutput: (bytes) => {
          said += Buffer.from(bytes).toString();
          if (said.split('\n').length > 2) stop.abort(new Error('seen'));
        },
      });
      await assert.rejects(following, /seen/);
      const [session, runner] = said.trim().split(/\s+/);
      assert.equal(session, runner);
      writeFileSync(go, '');
      assert.deepEqual(await run('a', program, { from: said.length }), { code: 0, output: 'more\n' });
    });

    test('that was killed is lost, and is not run again', async (t) => {
      const { run } = await start(t);
      await assert.rejects(run('a', 'echo $PPID; kill -9 $PPID; sleep 1000'), lost('killed'));
      await assert.rejects(run('a', 'echo again'), lost('killed'));
    });

    test('that ran when the machine went down is lost to the reboot', async (t) => {
      const { run, folder } = await start(t);
      await assert.rejects(run('a', 'echo before; kill -9 $PPID'), lost('killed'));
      const file = join(folder, 'a', 'process');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^[^|]*/, 'another-boot/1'));
      let said = '';
      const again = run('a', '', {
        onOutput: (bytes) => {
          said += Buffer.from(bytes).toString();
        },
      });
      await assert.rejects(again, lost('reboot'));
      assert.equal(said, 'before\n');
    });

    test('is ended with everything it has started, daemons too', async (t) => {
      const { run, host, folder } = await start(t);
      const program = 'trap "" TERM; sleep 1001 & setsid -f sleep 1002; (sleep 1003 &); echo begun; sleep 1004';
      let begun = false;
      const running = assert.rejects(run('a', program, { onOutput: () => void (begun = true) }), lost('ended'));
      await until('it has begun', () => begun);
      const mark = readFileSync(join(folder, 'a', 'mark'), 'utf8').trim();
      const left = (): number[] =>
        processTable()
          .map((row) => row.pid)
          .filter((pid) => environment(pid).includes(`MANTA_STEP=${mark}`));
      await until('all are up', () => left().length >= 5);
      await endSteps(host, folder, signal);
      assert.deepEqual(left(), []);
      await running;
      await assert.rejects(run('a', 'echo again'), lost('ended'));
    });

    test('that has ended leaves its daemons alone when it is ended again', async (t) => {
      const { run, host, folder, sshd } = await start(t);
      const alive = join(sshd.folder, 'pid');
      await run(
        'a',
        `setsid -f sh -c 'echo $$ >${alive}; exec sleep 1000' >/dev/null 2>&1; until [ -s ${alive} ]; do :; done`,
      );
      await endSteps(host, folder, signal);
      const pid = Number(readFileSync(alive, 'utf8'));
      assert.ok(process.kill(pid, 0));
      process.kill(pid, 'SIGKILL');
    });

    test('that was never begun, in a folder that is not there, is no trouble to end', async (t) => {
      const { host, folder } = await start(t);
      await endSteps(host, join(folder, 'nobody'), signal);
    });

    test('has no complaints of bash about its terminal in front of its output', async (t) => {
      const { run } = await start(t);
      assert.equal((await run('a', "exec bash --norc -i -c 'echo said'")).output, 'said\n');
    });
  });

suite('a step and its connection', { skip }, () => {
  test('a lost connection attaches again, and no byte is lost or doubled', async (t) => {
    const { run, sshd } = await bed(t);
    let seen = 0;
    let cuts = 0;
    const lose = [sshd.cutConnections, sshd.killMasters];
    const reasons: Error[] = [];
    const result = await run(
      'a',
      'for i in $(seq 1 2000); do echo $i; [ $((i % 400)) = 0 ] && sleep 0.4; done; exit 3',
      {
        onOutput: (bytes) => {
          seen += bytes.length;
          if (seen > cuts * 1_500 && cuts < 5) lose[cuts++ % 2]?.();
        },
        onReattach: (why) => void reasons.push(why),
      },
    );
    assert.deepEqual(result, { code: 3, output: numbers(2000) });
    assert.ok(reasons.length > 0);
  });

  test('a server that is away for a while is waited for', async (t) => {
    const { run, sshd } = await bed(t);
    const go = join(sshd.folder, 'go');
    let restart: Promise<void> | undefined;
    let lose: Promise<void> | undefined;
    const result = await run('a', `echo one; until [ -e ${go} ]; do sleep 0.05; done; echo two`, {
      onOutput: () => {
        lose ??= sshd.stop();
      },
      onReattach: () => {
        restart ??= (lose ?? Promise.resolve()).then(async () => {
          writeFileSync(go, '');
          await sshd.start();
        });
      },
    });
    await restart;
    assert.deepEqual(result, { code: 0, output: 'one\ntwo\n' });
  });

  /** Plays what a host answers, in order and then for ever, on a clock of its own. */
  const scripted = (answers: readonly ((say: (text: string) => void) => number | Promise<never>)[]) => {
    const state = { now: 0, asked: 0 };
    const host = thisHost();
    const sh: Host['sh'] = async (_, { onStdout }) => {
      const answer = answers[Math.min(state.asked++, answers.length - 1)];
      const code = await answer?.((text) => onStdout?.(Buffer.from(text)));
      return { code: code ?? 0, stdout: '', stderr: '' };
    };
    const clock = {
      now: () => state.now,
      sleep: async (duration: number) => void (state.now += duration),
    };
    return { state, clock, host: { ...host, sh } };
  };
  const step = { folder: 'steps', id: 'a', program: '', shell: 'sh' } as const;
  const away = (): Promise<never> => Promise.reject(sshErrors.Unreachable({ host: 'h1', detail: 'no route' }));
  const dropped = (): Promise<never> =>
    Promise.reject(sshErrors.Dropped({ host: 'h1', during: 'running', detail: 'reset' }));

  test('a host that is gone is tried again for a while since it was last heard, and then given up', async () => {
    let lostAt = 0;
    const { state, clock, host } = scripted([
      (say) => {
        say('started mark\n');
        lostAt = state.now += 3_600_000;
        return dropped();
      },
      away,
    ]);
    const running = runStep(host, step, { signal, clock, awayFor: 60_000 });
    await assert.rejects(running, (error) => sshErrors.Unreachable.is(error));
    const waited = state.now - lostAt;
    assert.ok(waited >= 60_000 && waited < 65_000, `${waited} ms`);
  });

  test('a host that answers in between has all the time again', async () => {
    const awhile = Array.from({ length: 45 }, () => away);
    const { state, clock, host } = scripted([
      ...awhile,
      (say) => {
        say('started mark\n');
        return dropped();
      },
      ...awhile,
      (say) => {
        say('attached mark\ndone\nmark 3\n');
        return 0;
      },
    ]);
    assert.deepEqual(await runStep(host, step, { signal, clock, awayFor: 60_000 }), { code: 3 });
    assert.ok(state.now > 60_000, `${state.now} ms`);
  });

  test('the process that followed is killed, and another one attaches and misses nothing', async (t) => {
    const { run, sshd, folder } = await bed(t);
    const go = join(sshd.folder, 'go');
    const program = `echo one; until [ -e ${go} ]; do sleep 0.05; done; echo two`;
    const [hostModule, stepModule] = ['../../src/base/ssh/host.ts', '../../src/bringup/steps/step.ts'].map((path) =>
      JSON.stringify(new URL(path, import.meta.url).href),
    );
    const text = `const { sshHost } = await import(${hostModule}); const { runStep } = await import(${stepModule});
      await runStep(sshHost(${JSON.stringify(sshd.target())}), ${JSON.stringify({ folder, id: 'a', program, shell: 'bash' })},
        { signal: new AbortController().signal, onOutput: (bytes) => process.stdout.write(bytes) });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(String(first), 'one\n');
    child.kill('SIGKILL');
    await once(child, 'close');
    writeFileSync(go, '');
    assert.deepEqual(await run('a', program), { code: 0, output: 'one\ntwo\n' });
  });

  test('a step whose folder is gone after it was seen is lost, and not run again', async (t) => {
    const { run, sshd, folder } = await bed(t);
    const log = join(sshd.folder, 'log');
    const running = run('a', `echo begun | tee -a ${log}; sleep 1000`, {
      onOutput: () => {
        execFileSync('rm', ['-rf', join(folder, 'a')]);
        sshd.cutConnections();
      },
    });
    await assert.rejects(running, lost('gone'));
    assert.equal(readFileSync(log, 'utf8'), 'begun\n');
  });
});

suite('a step on a plain host', { skip }, () => {
  /** A PATH whose tools are this machine's, but for some that are other or missing. */
  const path = (sshd: string, tools: Readonly<Record<string, string | undefined>>): string => {
    const bin = join(sshd, 'bin');
    mkdirSync(bin);
    for (const folder of ['/usr/bin', '/bin'])
      for (const name of readdirSync(folder))
        if (!(name in tools) && !existsSync(join(bin, name))) symlinkSync(join(folder, name), join(bin, name));
    for (const [name, text] of Object.entries(tools)) {
      if (text === undefined) continue;
      writeFileSync(join(bin, name), text);
      chmodSync(join(bin, name), 0o755);
    }
    return bin;
  };

  for (const without of [[], ['setsid']])
    test(`what a step starts hears SIGINT, which a cancel of Ray's needs${without.map((each) => `, without ${each} too`).join('')}`, async (t) => {
      if (process.platform !== 'linux') return t.skip('signals are read from /proc');
      const { sshd, run } = await bed(t);
      const bin = path(sshd.folder, Object.fromEntries(without.map((name) => [name, undefined])));
      writeFileSync(join(sshd.home, '.bashrc'), `PATH=${bin}\n`);
      const { output } = await run('a', "sh -c 'grep SigIgn /proc/self/status'");
      assert.equal(Number.parseInt(output.split(/\s+/)[1] ?? '', 16) & 0b110, 0, output);
    });

  test('without GNU tail and without setsid it works the same', async (t) => {
    const { sshd, run } = await bed(t);
    const tail = '#!/bin/sh\ncase "$*" in *--pid*) echo "usage: tail" >&2; exit 1;; esac\nexec /usr/bin/tail "$@"\n';
    const bin = path(sshd.folder, { tail, setsid: undefined });
    writeFileSync(join(sshd.home, '.bashrc'), `PATH=${bin}\n`);
    const program = 'for i in $(seq 1 40); do echo $i; [ $((i % 10)) = 0 ] && sleep 0.3; done; exit 4';
    assert.deepEqual(await run('a', program), { code: 4, output: numbers(40) });
    let cut = false;
    const result = await run('b', program, {
      onOutput: () => {
        if (!cut) sshd.cutConnections();
        cut = true;
      },
    });
    assert.deepEqual(result, { code: 4, output: numbers(40) });
  });

  test('old steps are cleared away, but none that runs', async (t) => {
    const { run, folder, sshd } = await bed(t, {}, () => thisHost());
    const go = join(sshd.folder, 'go');
    let begun = false;
    const program = `echo begun; until [ -e ${go} ]; do sleep 0.05; done`;
    const running = run('oldest', program, { onOutput: () => void (begun = true) });
    await until('it has begun', () => begun);
    for (let at = 0; at < 130; at++) await run(`step-${at}`, 'true');
    const kept = readdirSync(folder);
    assert.ok(kept.length <= 106, `${kept.length} are left`);
    assert.ok(kept.includes('oldest') && kept.includes('step-129') && !kept.includes('step-0'));
    writeFileSync(go, '');
    assert.equal((await running).code, 0);
  });

  test('a full disk is said to be one', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root, to mount a small disk; optional');
    const { sshd, host } = await bed(t);
    const disk = join(sshd.folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
    try {
      const run = (id: string, program: string): Promise<StepResult> =>
        runStep(host, { folder: join(disk, 'steps'), id, program, shell: 'sh' }, { signal });
      const filled = await run('a', `head -c 1000000 /dev/zero >${disk}/file; exit 5`);
      assert.equal(filled.code, 5);
      await assert.rejects(run('b', 'true'), (error) => bringupErrors.StepDiskFull.is(error));
      assert.ok(!existsSync(join(disk, 'steps', 'b')));
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });

  test('a place that cannot be written to, and a bad id, are said to be so', async (t) => {
    const { sshd, host, run } = await bed(t);
    const file = join(sshd.folder, 'file');
    writeFileSync(file, '');
    const step = { folder: join(file, 'steps'), id: 'a', program: 'true', shell: 'sh' } as const;
    await assert.rejects(runStep(host, step, { signal }), (error) => bringupErrors.StepNotStarted.is(error));
    for (const id of ['../a', '.a', 'a b', ''])
      await assert.rejects(run(id, 'true'), (error) => bringupErrors.StepNotStarted.is(error));
  });
});

function environment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
