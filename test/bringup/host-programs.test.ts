// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import { bringupErrors } from '../../src/bringup/errors.ts';
import { endLease, renewLease } from '../../src/bringup/lease/lease.ts';
import { type NodeOrder, nodeFolder, stepsFolder } from '../../src/bringup/node/node.ts';
import { prepareNode } from '../../src/bringup/node/prepare.ts';
import { sessionsFolder } from '../../src/bringup/sessions/sessions.ts';
import { endSteps, runStep } from '../../src/bringup/steps/step.ts';
import { cargoFolder, carryFiles } from '../../src/bringup/sync/carry.ts';
import { launcherErrors } from '../../src/launcher/errors.ts';
import { askFailureText, commandText } from '../../src/launcher/exec/command-text.ts';
import { listSessions } from '../../src/launcher/exec/sessions.ts';
import { logText } from '../../src/launcher/exec/sessions-text.ts';
import { lockAndLook } from '../../src/launcher/head/lock.ts';
import { dumpNode } from '../../src/launcher/nodes/dump.ts';
import { rayLogText, stepLogsText } from '../../src/launcher/nodes/logs.ts';
import { claimedNodes } from '../../src/launcher/reach/node-claims.ts';
import type { RemoteCluster } from '../../src/launcher/reach/remote-cluster.ts';
import { shimText } from '../../src/launcher/shim/shim-text.ts';
import { claimHost, releaseClaim, renewClaim } from '../../src/providers/local/claims.ts';
import { changeRayState, readRayState } from '../../src/providers/local/ray-state/ray-state.ts';
import { hostsWithoutKeyText } from '../../src/state/hosts-without-key.ts';
import { headHome, stateFolder } from '../../src/state/state-folder.ts';
import { shells } from '../base/shell-bed.ts';
import { never as signal, until } from '../contract/waiting.ts';
import { localHost } from './local-host.ts';

const options = { signal };
const here = { kind: 'host' } as const;

for (const shell of shells)
  describe(`on a host whose sh is ${shell}`, () => {
    const bed = (t: TestContext, env: NodeJS.ProcessEnv = {}) => {
      const home = mkdtempSync(join(tmpdir(), 'manta-programs-'));
      t.after(() => rmSync(home, { recursive: true, force: true }));
      return { home, host: localHost(home, env, shell) };
    };
    const order: NodeOrder = {
      cluster: 'lab',
      instance: 'host-1',
      kind: 'worker',
      type: 'small',
      commands: { initialization: [], setup: [], start: [] },
      files: { mounts: [], exclude: [], filter: [] },
      headAddress: '10.0.0.1',
      loginShells: true,
      usageStats: false,
      token: "a token's text",
    };
    const modeOf = (file: string): number => statSync(file).mode & 0o777;

    test('a node has its files for its user alone, and tells which steps were done', async (t) => {
      const { home, host } = bed(t);
      const first = await prepareNode(host, order, options);
      assert.deepEqual([first.steps, first.record, first.rayAlive, first.powerless], [[], undefined, false, false]);
      assert.ok(first.freeBytes > 0);
      const token = join(home, nodeFolder('lab'), 'token');
      assert.deepEqual([readFileSync(token, 'utf8'), modeOf(token)], [`${order.token}\n`, 0o600]);
      const step = { folder: stepsFolder('lab'), id: 'set-up', program: 'echo it runs; exit 7', shell: 'sh' } as const;
      let said = '';
      const run = () => runStep(host, step, { signal, onOutput: (bytes) => (said += Buffer.from(bytes).toString()) });
      assert.deepEqual(await run(), { code: 7 });
      assert.deepEqual(await run(), { code: 7 });
      assert.equal(said, 'it runs\nit runs\n');
      const { token: _, ...open } = order;
      assert.deepEqual((await prepareNode(host, open, options)).steps, [{ id: 'set-up', code: 7 }]);
      assert.equal(existsSync(token), false);
      const { stdout } = await host.sh(stepLogsText({ cluster: 'lab', place: here, lines: 9, follow: false }), options);
      assert.equal(stdout, '== set-up (exit code 7)\nit runs\n');
    });

    test('a step that runs is ended with all that it started', async (t) => {
      const { home, host } = bed(t);
      const folder = stepsFolder('lab');
      const program = 'sleep 600 & echo $! >"$HOME/below"; setsid sleep 600 & echo $! >"$HOME/left"; wait';
      const ended = runStep(host, { folder, id: 'long', program, shell: 'sh' }, options);
      const pids = () => ['below', 'left'].map((name) => Number(readFileSync(join(home, name), 'utf8').trim()));
      await until('both run', async () => existsSync(join(home, 'left')) && pids().every((pid) => pid > 1));
      const [below, left] = pids();
      await Promise.all([
        assert.rejects(ended, (error) => bringupErrors.StepLost.is(error)),
        endSteps(host, folder, signal),
      ]);
      const alive = (pid = 0) => spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
      assert.deepEqual(
        [alive(below), alive(left)].filter((state) => !/^(Z|$)/.test(state)),
        [],
      );
    });

    test('a lease is given, renewed and taken back, with its watchdog', async (t) => {
      const { home, host } = bed(t);
      const folder = join(home, nodeFolder('lab'));
      assert.equal(await renewLease(host, 'lab', 60_000, options), 'absent');
      await prepareNode(host, { ...order, lease: { lasts: 600_000, powersOff: false } }, options);
      const watchdog = () => Number(readFileSync(join(folder, 'watchdog.pid'), 'utf8').split('|')[1]);
      const first = watchdog();
      process.kill(first, 0);
      assert.equal(await renewLease(host, 'lab', 1_200_000, options), 'renewed');
      assert.match(readFileSync(join(folder, 'lease'), 'utf8'), / 1200\n$/);
      assert.equal(watchdog(), first);
      assert.deepEqual(await endLease(host, 'lab', options), []);
      assert.deepEqual(
        readdirSync(folder).filter((name) => /lease|watchdog/.test(name)),
        [],
      );
    });

    test('large files come whole, and those that nobody wants go', async (t) => {
      const { home, host } = bed(t);
      const id = `programs-${process.pid}-${Math.random().toString(16).slice(2)}`;
      t.after(() => rmSync(cargoFolder(id), { recursive: true, force: true }));
      const cargo = (name: string, text: string) => {
        writeFileSync(join(home, name), text);
        return { path: join(home, name), bytes: text.length };
      };
      await carryFiles(host, id, here, [cargo('one', '1'), cargo("it's two", '22')], signal);
      assert.deepEqual(readdirSync(cargoFolder(id)).sort(), ["it's two", 'one']);
      await carryFiles(host, id, here, [cargo('three', '333')], signal);
      assert.deepEqual(readdirSync(cargoFolder(id)), ['three']);
      await assert.rejects(carryFiles(host, id, here, [{ ...cargo('four', '4444'), bytes: 5 }], signal), /incomplete/);
    });

    test('a claim is held by one cluster until it is given back', async (t) => {
      const { home, host } = bed(t);
      const terms = { folder: join(home, 'claims'), lifetime: 60_000, proc: '/proc', devices: '/dev' };
      const of = (clusterId: string) => ({ clusterId, cluster: 'lab', owner: "o'neill@x", headAddress: '10.0.0.1' });
      const claim = async (id: string) => (await claimHost(host, of(id), `i-${id}`, options, terms)).kind;
      assert.equal(await claim('a'), 'held');
      assert.equal(await claim('b'), 'taken');
      assert.equal((await renewClaim(host, of('a'), 'i-a', options, terms)).kind, 'held');
      await releaseClaim(host, of('a'), 'i-a', options, terms);
      assert.equal(await claim('b'), 'held');
    });

    test('the lock of the head is held by one machine, and the head is looked at', async (t) => {
      const { home, host } = bed(t);
      const take = async (machine: string) => {
        const folder = stateFolder(join(home, machine), 'lab');
        mkdirSync(folder.path, { recursive: true });
        const cluster = { head: host, name: 'lab', folder } as unknown as RemoteCluster;
        return await lockAndLook(cluster, 'up', wallClock, signal);
      };
      const first = await take('laptop');
      t.after(first.unlock);
      assert.deepEqual([first.look.home, first.look.platform, first.look.cluster], [home, 'linux', undefined]);
      assert.match(first.look.publicKey ?? '', /^ssh-ed25519 \S+ manta lab$/);
      await assert.rejects(take('other'), (error) => launcherErrors.BusyElsewhere.is(error));
      await first.unlock();
      const second = await take('other');
      await second.unlock();
      assert.equal(second.look.publicKey, first.look.publicKey);
    });

    test("Ray's own file is changed only as it was seen", async (t) => {
      const ray = mkdtempSync(join(tmpdir(), 'manta-ray-state-'));
      t.after(() => rmSync(ray, { recursive: true, force: true }));
      const { host } = bed(t, { RAY_TMPDIR: ray });
      const state = new Map([['10.0.0.1', { tags: { a: "it's" }, state: 'running' as const }]]);
      assert.equal(await readRayState(host, 'own', options), undefined);
      await changeRayState(host, 'own', () => state, options);
      assert.deepEqual(await readRayState(host, 'own', options), state);
      let calls = 0;
      const meddle = () => {
        if (calls++ === 0) execFileSync('sh', ['-c', `echo >>${join(ray, 'ray/cluster-own.state')}`]);
        return undefined;
      };
      await changeRayState(host, 'own', meddle, options);
      assert.equal(calls, 2);
      assert.equal(existsSync(join(ray, 'ray/cluster-own.state')), false);
    });

    test('commands of users run where there is a node, and their own code comes back', async (t) => {
      const { home } = bed(t);
      const [name = '', ...words] = shell.split(' ');
      const run = (text: string) => {
        const env = { PATH: process.env['PATH'], HOME: home };
        const { status, stdout, stderr } = spawnSync(name, [...words, '-c', text], { encoding: 'utf8', env });
        return { status, stdout, stderr };
      };
      const exec = (command: string) =>
        run(commandText({ cluster: 'lab', place: here, terminal: false, mark: 'manta-0123', command }));
      assert.deepEqual(exec('echo no'), { status: 255, stdout: '', stderr: '' });
      assert.equal(run(askFailureText('lab', 'manta-0123')).stdout, 'absent\n');
      mkdirSync(join(home, nodeFolder('lab')), { recursive: true });
      writeFileSync(join(home, nodeFolder('lab'), 'env.sh'), 'export FROM_NODE=1\n');
      const said = { status: 7, stdout: "it's 1\n", stderr: 'two\n' };
      assert.deepEqual(exec('echo "it\'s $FROM_NODE"; echo two >&2; exit 7'), said);
      assert.equal(exec('exit 255').status, 255);
      assert.equal(run(askFailureText('lab', 'manta-0123')).stdout, 'ended\n');
    });

    test('the shim sends words of clusters to Manta and all others to Ray', (t) => {
      const { home } = bed(t);
      const script = (name: string, text: string): string => {
        mkdirSync(join(home, name), { recursive: true });
        writeFileSync(join(home, name, 'ray'), text, { mode: 0o755 });
        return join(home, name, 'ray');
      };
      const echo = (who: string): string => `#!/bin/sh\nprintf '${who}'; for w; do printf ' [%s]' "$w"; done\n`;
      const request = {
        words: ['up', 'status'],
        gcsWords: ['status'],
        node: '/bin/sh',
        program: script('m', echo('m')),
      };
      const shim = script('shim', shimText(request));
      script('real', echo('real'));
      const [name = '', ...words] = shell.split(' ');
      const env = { PATH: `${join(home, 'shim')}:${join(home, 'real')}:${process.env['PATH']}` };
      const ray = (...line: string[]) => spawnSync(name, [...words, shim, ...line], { env, encoding: 'utf8' }).stdout;
      assert.equal(ray('up', "it's *"), "m [--as-ray] [up] [it's *]");
      assert.equal(ray('up status'), 'real [up status]');
      assert.equal(ray('status', '--address', 'h:6379'), 'real [status] [--address] [h:6379]');
      assert.equal(ray('--logging-level', 'up', 'memory'), 'real [--logging-level] [up] [memory]');
    });

    test('sessions are listed with what they came to, and their logs end with them', async (t) => {
      const { home, host } = bed(t);
      assert.deepEqual(await listSessions(host, 'lab', options), []);
      const folder = join(home, sessionsFolder('lab'), 's1');
      mkdirSync(folder, { recursive: true });
      const facts = {
        kind: 'tmux',
        started: '10\n',
        ended: '20\n',
        rc: '3\n',
        log: 'it ran\n',
        command: 'a\nb',
        process: 'x|1|y\n',
      };
      for (const [name, text] of Object.entries(facts)) writeFileSync(join(folder, name), text);
      const [session] = await listSessions(host, 'lab', options);
      assert.deepEqual(
        [session?.id, session?.open, session?.exitCode, session?.logBytes, session?.command],
        ['s1', false, 3, 7, 'a\nb'],
      );
      assert.deepEqual(await host.sh(logText('lab', 's1', true), options), { code: 3, stdout: 'it ran\n', stderr: '' });
    });

    test('a node gives what it has to say when something is wrong, and nothing that jobs have printed', async (t) => {
      const { home, host } = bed(t);
      const logs = join(home, 'ray/session_1/logs');
      for (const folder of [join(home, stepsFolder('lab'), 'one'), logs]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(home, stepsFolder('lab'), 'one/output'), 'it ran\n');
      writeFileSync(join(home, nodeFolder('lab'), 'session'), `session_1 10.0.0.1:6379 ${home}/ray\n`);
      for (const name of ['raylet.out', 'debug_state.txt', 'job-driver-1.log', 'worker-1.out'])
        writeFileSync(join(logs, name), `of ${name}`);
      const all = { logs: true, debugState: true, pip: false, processes: true, processesVerbose: false };
      const request = { cluster: 'lab', host, place: here, ...all };
      const dump = async (more: Partial<typeof all> = {}) =>
        new Map((await dumpNode({ ...request, ...more }, signal)).map((file) => [file.name, file.content.toString()]));
      const found = await dump();
      const names = ['host.txt', 'processes.txt', 'ray/debug_state.txt', 'ray/raylet.out', 'steps/one.txt'];
      assert.deepEqual([...found.keys()].sort(), names);
      assert.deepEqual([found.get('ray/raylet.out'), found.get('steps/one.txt')], ['of raylet.out', 'it ran\n']);
      const few = await dump({ logs: false, processes: false });
      assert.deepEqual([...few.keys()].sort(), ['host.txt', 'ray/debug_state.txt', 'steps/one.txt']);
      const list = await host.sh(rayLogText({ cluster: 'lab', place: here, lines: 9, follow: false }, 'ray*'), options);
      assert.deepEqual([list.code, list.stdout], [0, 'of raylet.out']);
    });

    test('mantad finds the hosts that have no key yet, and a laptop the claims', async (t) => {
      const { home, host } = bed(t);
      const folder = join(home, headHome, 'clusters/lab');
      await host.sh(hostsWithoutKeyText('lab', ['10.0.0.1', '10.0.0.2']), options);
      assert.equal(readFileSync(join(folder, 'letting-in'), 'utf8'), '10.0.0.1\n10.0.0.2\n');
      await host.sh(hostsWithoutKeyText('lab', []), options);
      assert.deepEqual(readdirSync(folder), []);
      assert.equal(await claimedNodes(host, 'lab', options), undefined);
      writeFileSync(join(folder, 'cluster.json'), '{}');
      mkdirSync(join(folder, 'instances/claims'), { recursive: true });
      const record = { id: 'i', kind: 'worker', host: { name: '10.0.0.1' }, type: 't', state: 'running' };
      writeFileSync(join(folder, 'instances/claims/a.json'), JSON.stringify(record));
      assert.deepEqual(
        (await claimedNodes(host, 'lab', options))?.map(({ address }) => address),
        ['10.0.0.1'],
      );
    });
  });
