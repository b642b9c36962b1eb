import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { readShell } from '../src/base/shell/shell-file.ts';
import { type BootOrder, bootHost, portOf } from './boot.ts';
import { Cable, type Slowness } from './cable.ts';
import { type HostGroups, makeGroups, setFrozen } from './cgroups.ts';
import { childrenOf, endProcess, isAlive, type LabProcess, type ProcessIdentity, processesOf } from './processes.ts';
import type { HostRecord } from './record.ts';
import { changeHostKey, dropSessions, startListening, stopListening } from './sshd.ts';

const enterGroups = readShell(new URL('./enter-groups.sh', import.meta.url));

/** An argument vector, or a program for `sh -c`. */
export type Command = string | readonly string[];

export interface ExecOptions {
  /** root, ada (may use sudo) or bob (may not). @default the lab's `user`, else root */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default the user's home */
  readonly cwd?: string;
}

export interface ExecResult {
  /** 128 + the signal's number where a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a host needs of its lab. */
export interface HostContext {
  readonly keeper: ProcessIdentity;
  readonly user: string;
  readonly groups: HostGroups;
  readonly order: BootOrder;
  /** Told whenever what another process should know of the host has changed. */
  readonly changed: () => void;
  /** Told when the host has switched itself off. */
  readonly poweredOff?: () => void;
}

/** One machine of the lab. */
export class LabHost {
  readonly name: string;
  readonly address: string;
  readonly address6: string;
  readonly #context: HostContext;
  readonly #cable: Cable;
  #pid1: ProcessIdentity | undefined;

  constructor(
    at: { readonly name: string; readonly address: string; readonly address6: string },
    context: HostContext,
    known?: HostRecord,
  ) {
    this.name = at.name;
    this.address = at.address;
    this.address6 = at.address6;
    this.#context = context;
    this.#pid1 = known?.pid1;
    this.#cable = new Cable(context.keeper, portOf(context.order.number), known?.cable);
  }

  get up(): boolean {
    return this.#pid1 !== undefined && isAlive(this.#pid1);
  }

  /** What another process needs to use this host. */
  get record(): HostRecord {
    return { name: this.name, cable: this.#cable.state, ...(this.#pid1 && { pid1: this.#pid1 }) };
  }

  /** The host's file system as a folder of this machine: `join(host.root, 'etc/hosts')`. Links in it lead elsewhere. */
  get root(): string {
    return `/proc/${this.#running().pid}/root`;
  }

  /** Runs a command on the host without SSH, in a clean environment. Output is kept whole. */
  async exec(
    command: Command,
    options: ExecOptions & { readonly input?: string | Uint8Array; readonly within?: number } = {},
  ): Promise<ExecResult> {
    const child = this.spawn(command, options);
    const within = options.within ?? 120_000;
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(options.input ?? '');
    const ended = new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
    });
    const all = Promise.all([ended, text(child.stdout!), text(child.stderr!)]);
    const late = Promise.withResolvers<never>();
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      late.reject(new Error(`${this.name}: '${String(command)}' did not end within ${within} ms`));
    }, within);
    try {
      const [code, stdout, stderr] = await Promise.race([all, late.promise]);
      return { code, stdout, stderr };
    } finally {
      clearTimeout(deadline);
    }
  }

  /** As `exec`; throws when the command fails, returns what it printed. */
  async must(command: Command, options: Parameters<LabHost['exec']>[1] = {}): Promise<string> {
    const { code, stdout, stderr } = await this.exec(command, options);
    if (code !== 0) throw new Error(`${this.name}: '${String(command)}' ended with ${code}: ${stderr || stdout}`);
    return stdout;
  }

  /**
   * Starts a command on the host with its streams open. `kill(signal)` of what is returned signals the command itself;
   * when this process ends, so does the command.
   */
  spawn(command: Command, options: ExecOptions & Pick<SpawnOptions, 'stdio'> = {}): ChildProcess {
    const user = options.user ?? this.#context.user;
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const environment = {
      HOME: home,
      USER: user,
      LOGNAME: user,
      SHELL: '/bin/bash',
      TERM: 'dumb',
      LANG: 'C.UTF-8',
      PATH: [...this.#context.order.path, systemPath(user)].join(':'),
      ...(this.#context.order.python.length > 0 && { PYTHONPATH: this.#context.order.python.join(':') }),
      ...options.env,
    };
    const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
    const child = spawn(
      '/bin/sh',
      [
        ...['-c', enterGroups, 'sh', this.#context.groups.join.join(' ')],
        ...[
          'nsenter',
          '--target',
          String(this.#running().pid),
          '--mount',
          '--uts',
          '--ipc',
          '--net',
          '--pid',
          '--cgroup',
        ],
        ...['--', '/usr/bin/env', '-i', '-C', options.cwd ?? home],
        ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
        ...[
          '/usr/bin/setpriv',
          '--reuid',
          user,
          '--regid',
          user,
          '--init-groups',
          '--pdeathsig',
          'KILL',
          '--',
          ...argv,
        ],
      ],
      { stdio: options.stdio ?? 'pipe' },
    );
    const killParent = child.kill.bind(child);
    child.kill = (signal) => {
      const inner = child.exitCode === null && child.pid !== undefined ? childrenOf(child.pid)[0] : undefined;
      if (inner === undefined) return killParent(signal);
      try {
        return process.kill(inner, signal ?? 'SIGTERM');
      } catch {
        return false;
      }
    };
    return child;
  }

  /** Power cut: nothing is said to anybody, everything that ran is gone; the disk stays. */
  async kill(): Promise<void> {
    if (this.#pid1 === undefined) return;
    // Without a cable nobody hears the kernel close the connections.
    if (this.up) await this.#cable.unplug();
    if (this.up) process.kill(this.#pid1.pid, 'SIGKILL');
    await setFrozen(this.#context.groups, false);
    await endProcess(this.#pid1);
    this.#pid1 = undefined;
    this.#context.changed();
  }

  /** Power on. The disk and the host key are those of before. */
  async boot(): Promise<void> {
    if (this.up) throw new Error(`${this.name} is up already`);
    makeGroups(this.#context.groups);
    const { keeper, order, poweredOff } = this.#context;
    this.#pid1 = await bootHost(keeper, { ...order, cut: this.#cable.state.cut }, poweredOff);
    await this.#cable.plugged();
    this.#context.changed();
  }

  /** Power cut, for ever: its disk is gone too. */
  async discard(): Promise<void> {
    if (this.up) await this.#cable.fast();
    await this.kill();
    const at = ['--target', String(this.#context.keeper.pid), '--mount', '--'];
    await promisify(execFile)('nsenter', [...at, 'umount', '--lazy', this.#disk]).catch(() => {});
  }

  /** Power cut and power on. */
  async reboot(): Promise<void> {
    await this.kill();
    await this.boot();
  }

  /** Stops every process where it stands; the network of the host stays up, and nobody answers. */
  async freeze(): Promise<void> {
    await setFrozen(this.#context.groups, true);
  }

  async thaw(): Promise<void> {
    await setFrozen(this.#context.groups, false);
  }

  /** Pulls the network cable: what is sent is lost, nobody is told. A reboot does not put it back. */
  async cut(): Promise<void> {
    await this.#cable.cut();
    this.#context.changed();
  }

  async mend(): Promise<void> {
    await this.#cable.mend();
    this.#context.changed();
  }

  /** Makes the cable slow, or slow in another way; open connections live on. */
  async slow(how: Slowness): Promise<void> {
    await this.#cable.slow(how);
    this.#context.changed();
  }

  async fast(): Promise<void> {
    await this.#cable.fast();
    this.#context.changed();
  }

  /** Ends the SSH connections that are open now; what was started over them goes on. Returns how many processes held them. */
  dropConnections(): Promise<number> {
    return dropSessions(this);
  }

  /** No sshd listens: connections are refused, open ones stay. */
  refuse(): Promise<void> {
    return stopListening(this);
  }

  accept(): Promise<void> {
    return startListening(this);
  }

  /** Gives the host another host key. */
  changeHostKey(): Promise<void> {
    return changeHostKey(this);
  }

  /** Takes away all free space of the disk but `leave` bytes. What is deleted can be written again. */
  async fillDisk(leave = 0): Promise<void> {
    const { blocks, bfree, bsize } = statfsSync(`/proc/${this.#context.keeper.pid}/root${this.#disk}`);
    await this.#resize(String((blocks - bfree) * bsize + leave));
  }

  async freeDisk(): Promise<void> {
    await this.#resize(this.#context.order.disk);
  }

  /** Everything that runs on the host and in its containers, seen from outside. */
  processes(): readonly LabProcess[] {
    return this.up ? processesOf(this.#context.groups.path, this.#pid1!.pid) : [];
  }

  get #disk(): string {
    return join(this.#context.order.folder, 'disk');
  }

  #running(): ProcessIdentity {
    if (this.#pid1 === undefined || !isAlive(this.#pid1)) throw new Error(`${this.name} is not up`);
    return this.#pid1;
  }

  /** A disk in memory is full when it may not grow: that costs nothing. */
  async #resize(size: string): Promise<void> {
    const { pid } = this.#context.keeper;
    const args = ['--target', String(pid), '--mount', '--', 'mount', '-o', `remount,size=${size}`, this.#disk];
    await promisify(execFile)('nsenter', args);
  }
}

const systemPath = (user: string): string =>
  user === 'root' ? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' : '/usr/local/bin:/usr/bin:/bin';

const signalNumber = (signal: NodeJS.Signals | null): number => (signal === null ? 0 : constants.signals[signal]);
