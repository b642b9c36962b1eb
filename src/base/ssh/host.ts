import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { MantaError } from '../errors.ts';
import type { Host, HostResult, RunOptions } from '../host.ts';
import type { ProgramOutcome } from '../shell/host-program.ts';
import { newMark, runMarked, runProgram } from '../shell/host-program.ts';
import { shellQuoted } from '../shell/shell-quote.ts';
import type { Clock } from '../time/clock.ts';
import { doubling, retry } from '../time/retry.ts';
import { wallClock } from '../time/wall-clock.ts';
import { sshArguments } from './arguments.ts';
import { classify, lossIn } from './classify.ts';
import { controlPath } from './control.ts';
import { mayComeUp, sshErrors } from './errors.ts';
import { farEnd, forwardThrough, type SocketForward } from './forward.ts';
import { offeredKeys } from './offered-keys.ts';
import { isPinned, refuseUnkept } from './pins.ts';
import { listenToProxies } from './proxy-log.ts';
import { putCommand, putProblem } from './put.ts';
import { Slots } from './slots.ts';
import type { SshTarget } from './target.ts';

export interface SshEdges {
  /** @default the clock of this machine */
  readonly clock?: Clock;
  /** The OpenSSH client. @default 'ssh' */
  readonly ssh?: string;
}

/** sshd allows ten sessions a connection by default (MaxSessions); the rest is left to `open`, rsync and other commands. */
const sessions = 6;

/**
 * A machine over the system's OpenSSH client. All programs of it, also those of other Manta processes, share one master
 * connection, which ssh makes, finds and replaces itself.
 */
export const sshHost = (target: SshTarget, edges: SshEdges = {}): Host => new SshHost(target, edges);

class SshHost implements Host {
  readonly name: string;
  readonly #target: SshTarget;
  readonly #client: string;
  readonly #clock: Clock;
  readonly #slots = new Slots(sessions);
  /** By where they lead to. */
  readonly #forwards = new Map<string, Promise<SocketForward>>();
  #connected = false;
  #connecting: Promise<unknown> | undefined;

  constructor(target: SshTarget, edges: SshEdges) {
    this.name = target.name;
    this.#target = target;
    this.#client = edges.ssh ?? 'ssh';
    this.#clock = edges.clock ?? wallClock;
  }

  async sh(program: string, options: RunOptions): Promise<HostResult> {
    return await this.#inTurn(
      (onBegun) => runProgram(() => this.#start('exec /bin/sh -s'), program, { ...options, onBegun, end }),
      options,
    );
  }

  async connect({ signal, within, onWait }: Parameters<Host['connect']>[0]): Promise<void> {
    if (this.#connected) return;
    const until = performance.now() + within;
    const pause = doubling(50, 1_000);
    let reason: unknown;
    const again = (error: unknown, tries: number): boolean => {
      if (!mayComeUp(error)) return false;
      // A try that the deadline cut short says less than the one before it, which came to its own end.
      const cutShort = sshErrors.Timeout.is(error) && performance.now() >= until;
      reason = cutShort ? (reason ?? error) : error;
      if (performance.now() + pause(tries) > until) throw reason;
      onWait?.(error as Error);
      return true;
    };
    await retry(() => this.sh(':', { signal, within: Math.max(1, Math.ceil(until - performance.now())) }), {
      clock: this.#clock,
      ...{ signal, pause, again },
    });
  }

  isKept(): boolean {
    return existsSync(controlPath(this.#target));
  }

  async put(path: string, content: Uint8Array, mode: number, options: RunOptions): Promise<void> {
    const mark = newMark();
    const command = putCommand(path, content.byteLength, mode, mark);
    const result = await this.#inTurn(
      (onBegun) => runMarked(() => this.#start(command), content, mark, { ...options, onBegun, end }),
      options,
    );
    if (result.code !== 0) throw sshErrors.NotWritten({ host: this.name, path, detail: putProblem(result) });
  }

  open(command: string, { stdio, tty = false, forwards: ports = [] }: Parameters<Host['open']>[1]): ChildProcess {
    const target = this.#target;
    // What a shared master forwards stays with it: ports of a command get a connection that ends with the command.
    const words = sshArguments(target, { alone: ports.length > 0 });
    const tunnels = ports.flatMap((port) => ['-L', `127.0.0.1:${port.localPort}:127.0.0.1:${port.remotePort}`]);
    const line = `exec /bin/sh -c ${shellQuoted(command)}`;
    return spawn(this.#client, [...words, ...tunnels, tty ? '-tt' : '-T', '--', target.address, line], { stdio });
  }

  rsync(): ReturnType<Host['rsync']> {
    const target = this.#target;
    const words = [this.#client, ...sshArguments(target), '-T'].map(rsyncQuoted);
    const address = target.address.includes(':') ? `[${target.address}]` : target.address;
    return { shell: words.join(' '), prefix: `${address}:`, failure: (stderr) => lossIn(target, stderr) };
  }

  async forward(remote: Parameters<Host['forward']>[0], signal: AbortSignal): Promise<string> {
    const far = farEnd(remote);
    const connect = (during: AbortSignal): Promise<unknown> => this.sh(':', { signal: during });
    const edges = { client: this.#client, clock: this.#clock, connect };
    const made = this.#forwards.get(far) ?? forwardThrough(this.#target, edges, far, signal);
    this.#forwards.set(far, made);
    try {
      const tunnel = await made;
      await tunnel.stands(signal);
      return tunnel.path;
    } catch (error) {
      await made.catch(() => this.#forwards.delete(far));
      throw error;
    }
  }

  async renew(): Promise<void> {
    this.#connected = false;
    await endMaster(this.#target, this.#client);
  }

  async close(): Promise<void> {
    const ended = [...this.#forwards.values()].map((made) => made.then((tunnel) => tunnel.end()));
    await Promise.allSettled(ended);
    this.#forwards.clear();
  }

  #start(command: string): ChildProcess {
    const words = [...sshArguments(this.#target), '-T', '--', this.#target.address, command];
    // In a session of its own: Ctrl-C is for this process to handle.
    return spawn(this.#client, words, { stdio: 'pipe', detached: true });
  }

  /** The first to come connects; the others wait for it, so that one master is made and not many. */
  async #inTurn(run: (onBegun: () => void) => Promise<ProgramOutcome>, options: RunOptions): Promise<HostResult> {
    while (!this.#connected && this.#connecting) await this.#connecting;
    return await this.#slots.use(options.signal, async () => {
      const first = !this.#connected && !this.#connecting;
      const gate = Promise.withResolvers<void>();
      if (first) this.#connecting = gate.promise;
      const open = (): void => {
        if (first) this.#connecting = undefined;
        gate.resolve();
      };
      try {
        const known = this.#connected || isPinned(this.#target.pin);
        const proxies = listenToProxies(this.#target);
        const outcome = await run(() => {
          this.#connected = true;
          open();
        });
        const result = await this.#resultOf(outcome, options, proxies);
        if (!known) refuseUnkept(this.#target.pin);
        return result;
      } finally {
        open();
      }
    });
  }

  async #resultOf(outcome: ProgramOutcome, options: RunOptions, proxies: () => string): Promise<HostResult> {
    if (outcome.kind === 'ended') return outcome.result;
    this.#connected = false;
    const host = this.name;
    const within = options.within ?? 60_000;
    if (outcome.kind === 'not-started') {
      if (outcome.error.code === 'ENOENT') throw sshErrors.NoClient({ program: this.#client }, outcome.error);
      throw sshErrors.ClientFailed({ host, detail: outcome.error.message }, outcome.error);
    }
    if (outcome.kind === 'late') {
      if (outcome.begun) throw sshErrors.TooLong({ host, seconds: within / 1_000 });
      throw sshErrors.Timeout({ host, detail: `no response within ${within / 1_000} s` });
    }
    // A client that cannot connect ends with 255; anything else is what was run there instead of the shell.
    if (!outcome.begun && outcome.code !== null && outcome.code !== 255) {
      const said = `${outcome.instead}${outcome.stderr}`.trim();
      throw sshErrors.NoShell({ host, code: outcome.code, said });
    }
    throw await this.#withKeys(classify(this.#target, `${proxies()}${outcome.stderr}`, outcome.begun));
  }

  async #withKeys(error: MantaError): Promise<MantaError> {
    if (!sshErrors.AuthFailed.is(error)) return error;
    return sshErrors.AuthFailed({ ...error.data, keys: await offeredKeys(this.#client, this.#target) });
  }
}

/** Ends the master connection to the target, and with it all that goes through it, also of other processes. */
export async function endMaster(target: SshTarget, client = 'ssh'): Promise<void> {
  const words = [...sshArguments(target), '-O', 'exit', '--', target.address];
  const { promise, resolve } = Promise.withResolvers<void>();
  spawn(client, words, { stdio: 'ignore' })
    .once('error', () => resolve())
    .once('exit', () => resolve());
  await promise;
}

/** The client alone: what it shares a group with may be the way to the host (ProxyCommand). */
const end = (child: ChildProcess, signal: NodeJS.Signals): void => void child.kill(signal);

/** rsync splits the words at blanks and knows quotes, in which the same quote is written twice. */
const rsyncQuoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
