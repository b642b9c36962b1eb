// needs: sshd

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { endProcesses, processTable, sendSignal, withDescendants } from '../../src/base/process.ts';
import { endMaster } from '../../src/base/ssh/host.ts';
import type { SshTarget } from '../../src/base/ssh/target.ts';
import { until } from '../contract/waiting.ts';

const program = '/usr/sbin/sshd';

/** Why these tests cannot run here; undefined when they can. */
export function missing(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux: what is left of a test is found through /proc';
  if (!existsSync(program)) return `${program} is not installed: apt-get install openssh-server`;
  for (const tool of ['ssh', 'rsync']) {
    try {
      execFileSync('sh', ['-c', `command -v ${tool}`]);
    } catch {
      return `'${tool}' is not installed: apt-get install openssh-client rsync`;
    }
  }
  return undefined;
}

export interface TestSshd {
  readonly folder: string;
  /** Home of the user who logs in, empty at first. */
  readonly home: string;
  readonly port: number;
  target(over?: Partial<SshTarget>): SshTarget;
  start(): Promise<void>;
  /** The server and all its sessions, as in a power cut; what sessions have started goes on. */
  stop(): Promise<void>;
  /** Kills the server's processes for connections that stand, not the server. */
  readonly cutConnections: () => number;
  /** Kills the masters of this side. */
  readonly killMasters: () => number;
  /** Makes a new key of this type, which is the only one. */
  changeHostKey(type: 'ed25519' | 'ecdsa'): Promise<void>;
}

export interface SshdOptions {
  readonly listen?: string;
  /** In the environment of every session. */
  readonly env?: Readonly<Record<string, string>>;
  /** Run in place of what is asked for. */
  readonly instead?: string;
  /** False: it is left to the test to start it. */
  readonly running?: boolean;
}

/** A real sshd on loopback for this user, with a home of its own. Ended with the test, with everything that was run through it. */
export async function startSshd(t: TestContext, options: SshdOptions = {}): Promise<TestSshd> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-sshd-'));
  const home = join(folder, 'home');
  const listen = options.listen ?? '127.0.0.1';
  const port = await freePort(listen);
  const hostKey = join(folder, 'host-key');
  const userKey = join(folder, 'user-key');
  const targets: SshTarget[] = [];
  let server: ChildProcess | undefined;

  mkdirSync(home);
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  makeKey(hostKey, 'ed25519');
  makeKey(userKey, 'ed25519');
  const env = Object.entries({ HOME: home, ...options.env }).map(([name, value]) => `"${name}=${value}"`);
  writeFileSync(
    join(folder, 'config'),
    [
      `Port ${port}`,
      `ListenAddress ${listen}`,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${userKey}.pub`,
      'PidFile none',
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'MaxStartups 100',
      `SetEnv ${env.join(' ')}`,
      `ForceCommand ${options.instead ?? 'cd && eval "$SSH_ORIGINAL_COMMAND"'}`,
    ].join('\n'),
  );

  const sshd: TestSshd = {
    folder,
    home,
    port,
    target(over = {}) {
      const target: SshTarget = {
        name: 'machine',
        address: listen,
        port,
        key: userKey,
        pin: { file: join(folder, 'pins', 'instance-1'), alias: 'instance-1' },
        control: join(folder, 'c'),
        persist: 60_000,
        config: '/dev/null',
        ...over,
      };
      targets.push(target);
      return target;
    },
    async start() {
      const child = spawn(program, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
      let said = '';
      child.stderr.on('data', (piece: Buffer) => {
        said += String(piece);
      });
      server = child;
      await until('sshd answers', async () => {
        assert.equal(child.exitCode, null, said);
        return await answers(listen, port);
      });
    },
    async stop() {
      const pid = server?.pid;
      if (pid === undefined) return;
      const table = processTable();
      const pids = [pid, ...connectionsOf(pid)];
      assert.ok(table.some((row) => row.pid === pid));
      for (const each of pids) sendSignal(each, 'SIGKILL');
      await until('sshd is gone', () => !processTable().some((row) => pids.includes(row.pid)));
      server = undefined;
    },
    cutConnections() {
      const pids = server?.pid === undefined ? [] : connectionsOf(server.pid);
      for (const pid of pids) sendSignal(pid, 'SIGKILL');
      return pids.length;
    },
    killMasters() {
      const pids = mastersIn(folder);
      for (const pid of pids) sendSignal(pid, 'SIGKILL');
      return pids.length;
    },
    async changeHostKey(type) {
      await sshd.stop();
      makeKey(hostKey, type);
      await sshd.start();
    },
  };

  t.after(async () => {
    for (const target of targets) await endMaster(target).catch(() => {});
    await sshd.stop();
    await endProcesses(() => remainsOf(folder), 200);
    rmSync(folder, { recursive: true, force: true });
  });
  if (options.running !== false) await sshd.start();
  return sshd;
}

function makeKey(path: string, type: string): void {
  rmSync(path, { force: true });
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', path]);
}

/** The server's own processes below it: those named sshd. What sessions run is not among them. */
function connectionsOf(server: number): number[] {
  const rows = processTable();
  const roots = rows.filter((row) => row.parent === server);
  return withDescendants(rows, roots).filter((pid) => nameOf(pid).startsWith('sshd'));
}

function mastersIn(folder: string): number[] {
  return processTable()
    .map((row) => row.pid)
    .filter((pid) => {
      const words = textOf(`/proc/${pid}/cmdline`);
      return words.startsWith(`ssh: ${folder}/`) && words.includes('[mux]');
    });
}

/** Masters, sessions and steps, with what came from them: they have the folder in their words or their environment. */
function remainsOf(folder: string): number[] {
  const rows = processTable();
  const roots = rows.filter(
    ({ pid }) =>
      pid !== process.pid && ['cmdline', 'environ'].some((part) => textOf(`/proc/${pid}/${part}`).includes(folder)),
  );
  return withDescendants(rows, roots);
}

const nameOf = (pid: number): string => textOf(`/proc/${pid}/comm`);

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** A loopback port that nobody listens on. */
export async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  return await new Promise<boolean>((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  }).finally(() => socket.destroy());
}
