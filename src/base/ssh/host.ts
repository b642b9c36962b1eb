import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import type { MantaError } from '../errors.ts';
import type { Host, HostResult, RunOptions } from '../host.ts';
import type { ProgramOutcome } from '../host-program.ts';
import { newMark, runMarked, runProgram } from '../host-program.ts';
import { shellQuoted } from '../shell-quote.ts';
import { wallClock } from '../wall-clock.ts';
import { sshArguments } from './arguments.ts';
import { classify, lossIn } from './classify.ts';
import { controlPath } from './control.ts';
import { mayComeUp, sshErrors } from './errors.ts';
import { farEnd, forwardThrough, type Tunnel } from './forward.ts';
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
export function sshHost(target: SshTarget, edges: SshEdges = {}): Host {
  const client = edges.ssh ?? 'ssh';
  const clock = edges.clock ?? wallClock;
  const slots = new Slots(sessions);
  /** By where they lead to. */
  const forwards = new Map<string, Promise<Tunnel>>();
  const state: { connected: boolean; connecting?: Promise<unknown> | undefined } = { connected: false };

  const start = (words: readonly string[]): ChildProcess =>
    // In a session of its own: Ctrl-C is for this process to handle.
    spawn(client, words, { stdio: 'pipe', detached: true });
  const session = (command: string): string[] => [...sshArguments(target), '-T', '--', target.address, command];

  /** The first to come connects; the others wait for it, so that one master is made and not many. */
  async function inTurn(
    run: (onBegun: () => void) => Promise<ProgramOutcome>,
    options: RunOptions,
  ): Promise<HostResult> {
    while (!state.connected && state.connecting) await state.connecting;
    return await slots.use(options.signal, async () => {
      const first = !state.connected && !state.connecting;
      const gate = Promise.withResolvers<void>();
      if (first) state.connecting = gate.promise;
      const open = (): void => {
        if (first) state.connecting = undefined;
        gate.resolve();
      };
      try {
        const known = state.connected || isPinned(target.pin);
        const proxies = listenToProxies(target);
        const outcome = await run(() => {
          state.connected = true;
          open();
        });
        const result = await resultOf(outcome, options, proxies);
        if (!known) refuseUnkept(target.pin);
        return result;
      } finally {
        open();
      }
    });
  }

  async function resultOf(outcome: ProgramOutcome, options: RunOptions, proxies: () => string): Promise<HostResult> {
    if (outcome.kind === 'ended') return outcome.result;
    state.connected = false;
    const within = options.within ?? 60_000;
    if (outcome.kind === 'not-started') {
      if (outcome.error.code === 'ENOENT') throw sshErrors.NoClient({ program: client }, outcome.error);
      throw sshErrors.ClientFailed({ host: target.name, detail: outcome.error.message }, outcome.error);
    }
    if (outcome.kind === 'late') {
      if (outcome.begun) throw sshErrors.TooLong({ host: target.name, seconds: within / 1_000 });
      throw sshErrors.Timeout({ host: target.name, detail: `nothing came back within ${within / 1_000} s` });
    }
    // A client that cannot connect ends with 255; anything else is what was run there instead of the shell.
    if (!outcome.begun && outcome.code !== null && outcome.code !== 255)
      throw sshErrors.NoShell({
        host: target.name,
        code: outcome.code,
        said: `${outcome.instead}${outcome.stderr}`.trim(),
      });
    throw await withKeys(classify(target, `${proxies()}${outcome.stderr}`, outcome.begun));
  }

  async function withKeys(error: MantaError): Promise<MantaError> {
    if (!sshErrors.AuthFailed.is(error)) return error;
    return sshErrors.AuthFailed({ ...error.data, keys: await offeredKeys(client, target) });
  }

  async function sh(program: string, options: RunOptions): Promise<HostResult> {
    return await inTurn(
      (onBegun) => runProgram(() => start(session('exec /bin/sh -s')), program, { ...options, onBegun, end }),
      options,
    );
  }

  return {
    name: target.name,
    sh,

    async connect({ signal, within, onWait }) {
      if (state.connected) return;
      const until = performance.now() + within;
      let reason: unknown;
      for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
        const left = until - performance.now();
        try {
          await sh(':', { signal, within: Math.max(1, Math.ceil(left)) });
          return;
        } catch (error) {
          if (!mayComeUp(error)) throw error;
          // A try that the deadline cut short says less than the one before it, which came to its own end.
          const cutShort = sshErrors.Timeout.is(error) && performance.now() >= until;
          reason = cutShort ? (reason ?? error) : error;
          if (performance.now() + pause > until) throw reason;
          onWait?.(error as Error);
        }
        await clock.sleep(pause, signal);
      }
    },

    isKept: () => existsSync(controlPath(target)),

    async put(path, content, mode, options) {
      const mark = newMark();
      const command = putCommand(path, content.byteLength, mode, mark);
      const result = await inTurn(
        (onBegun) => runMarked(() => start(session(command)), content, mark, { ...options, onBegun, end }),
        options,
      );
      if (result.code !== 0) throw sshErrors.NotWritten({ host: target.name, path, detail: putProblem(result) });
    },

    open(command, { stdio, tty = false, forwards: ports = [] }) {
      // What a shared master forwards stays with it: ports of a command get a connection that ends with the command.
      const words = sshArguments(target, { alone: ports.length > 0 });
      const tunnels = ports.flatMap((port) => ['-L', `127.0.0.1:${port.localPort}:127.0.0.1:${port.remotePort}`]);
      const line = `exec /bin/sh -c ${shellQuoted(command)}`;
      return spawn(client, [...words, ...tunnels, tty ? '-tt' : '-T', '--', target.address, line], { stdio });
    },

    rsync() {
      const words = [client, ...sshArguments(target), '-T'].map(rsyncQuoted);
      const address = target.address.includes(':') ? `[${target.address}]` : target.address;
      return { shell: words.join(' '), prefix: `${address}:`, failure: (stderr) => lossIn(target, stderr) };
    },

    async forward(remote, signal) {
      const far = farEnd(remote);
      const connect = (during: AbortSignal): Promise<unknown> => sh(':', { signal: during });
      const made = forwards.get(far) ?? forwardThrough(target, { client, clock, connect }, far, signal);
      forwards.set(far, made);
      try {
        const tunnel = await made;
        await tunnel.stands(signal);
        return tunnel.path;
      } catch (error) {
        await made.catch(() => forwards.delete(far));
        throw error;
      }
    },

    async renew() {
      state.connected = false;
      await endMaster(target, client);
    },

    async close() {
      const ended = [...forwards.values()].map((made) => made.then((tunnel) => tunnel.end()));
      await Promise.allSettled(ended);
      forwards.clear();
    },
  };
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
