import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { buffer, text } from 'node:stream/consumers';
import { type BootOrder, bootHost, portOf } from './boot.ts';
import { type HostGroups, makeGroups, setFrozen } from './cgroups.ts';
import { childrenOf, endProcess, isAlive, type LabProcess, type ProcessIdentity, processesOf } from './processes.ts';

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
export interface HostGround {
  readonly keeper: ProcessIdentity;
  readonly user: string;
  readonly groups: HostGroups;
  readonly order: () => BootOrder;
  /** Told whenever what another process should know of the host has changed. */
  readonly changed: () => void;
}

/** One machine of the lab. */
export class LabHost {
  readonly name: string;
  readonly address: string;
  readonly address6: string;
  readonly #ground: HostGround;
  #pid1: ProcessIdentity | undefined;
  #cut = false;

  constructor(
    at: { readonly name: string; readonly address: string; readonly address6: string },
    ground: HostGround,
    known: { readonly pid1?: ProcessIdentity; readonly cut?: boolean } = {},
  ) {
    this.name = at.name;
    this.address = at.address;
    this.address6 = at.address6;
    this.#ground = ground;
    this.#pid1 = known.pid1;
    this.#cut = known.cut ?? false;
  }

  get up(): boolean {
    return this.#pid1 !== undefined && isAlive(this.#pid1);
  }

  get pid1(): ProcessIdentity | undefined {
    return this.#pid1;
  }

  get isCut(): boolean {
    return this.#cut;
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
    const user = options.user ?? this.#ground.user;
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const environment = {
      HOME: home,
      USER: user,
      LOGNAME: user,
      SHELL: '/bin/bash',
      TERM: 'dumb',
      LANG: 'C.UTF-8',
      PATH: [...this.#ground.order().path, systemPath(user)].join(':'),
      ...options.env,
    };
    const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
    const join = 'for group in $1; do echo $$ > "$group/cgroup.procs"; done; shift; exec "$@"';
    const child = spawn(
      '/bin/sh',
      [
        ...['-c', join, 'sh', this.#ground.groups.join.join(' ')],
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
    await this.#switch(`link del ${portOf(this.#number)}`);
    process.kill(this.#running().pid, 'SIGKILL');
    await setFrozen(this.#ground.groups, false);
    await endProcess(this.#pid1);
    this.#pid1 = undefined;
    this.#ground.changed();
  }

  /** Power on. The disk and the host key are those of before. */
  async boot(): Promise<void> {
    if (this.up) throw new Error(`${this.name} is up already`);
    makeGroups(this.#ground.groups);
    this.#pid1 = await bootHost(this.#ground.keeper, { ...this.#ground.order(), cut: this.#cut });
    this.#ground.changed();
  }

  /** Power cut and power on. */
  async reboot(): Promise<void> {
    await this.kill();
    await this.boot();
  }

  /** Stops every process where it stands; the network of the host stays up, and nobody answers. */
  async freeze(): Promise<void> {
    await setFrozen(this.#ground.groups, true);
  }

  async thaw(): Promise<void> {
    await setFrozen(this.#ground.groups, false);
  }

  /** Pulls the network cable; a reboot does not put it back. */
  async cut(): Promise<void> {
    await this.#switch(`link set ${portOf(this.#number)} down`);
    this.#cut = true;
    this.#ground.changed();
  }

  async mend(): Promise<void> {
    await this.#switch(`link set ${portOf(this.#number)} up`);
    this.#cut = false;
    this.#ground.changed();
  }

  /** Everything that runs on the host and in its containers, seen from outside. */
  processes(): readonly LabProcess[] {
    return this.up ? processesOf(this.#ground.groups.path, this.#pid1!.pid) : [];
  }

  get #number(): number {
    return Number(this.name.slice(1));
  }

  #running(): ProcessIdentity {
    if (this.#pid1 === undefined || !isAlive(this.#pid1)) throw new Error(`${this.name} is not up`);
    return this.#pid1;
  }

  /** Lines for `ip`, in the switch. */
  async #switch(lines: string): Promise<void> {
    const child = spawn('nsenter', ['--target', String(this.#ground.keeper.pid), '--net', '--', 'ip', '-batch', '-']);
    child.stdin.end(`${lines}\n`);
    const [stderr, code] = await Promise.all([
      buffer(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ]);
    if (code !== 0) throw new Error(`the switch refused '${lines}': ${stderr.toString().trim()}`);
  }
}

const systemPath = (user: string): string =>
  user === 'root' ? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' : '/usr/local/bin:/usr/bin:/bin';

const signalNumber = (signal: NodeJS.Signals | null): number => (signal === null ? 0 : constants.signals[signal]);
