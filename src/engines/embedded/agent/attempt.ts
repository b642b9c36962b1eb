import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, constants as fileModes } from 'node:fs';
import { cp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { constants as osConstants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../base/errors.ts';
import type { LogWriter } from '../../../base/files/log-segments.ts';
import { openLogWriter, readLog, setupLogOf } from '../../../base/files/log-segments.ts';
import { endProcesses, holdersOfPipe, markOf, markVariable, sendSignal } from '../../../base/process.ts';
import type { Clock, Duration, Instant } from '../../../base/time/clock.ts';
import type { EndCause } from '../../../core/jobs/job.ts';
import type { AttemptOrder, AttemptReport } from '../../runner.ts';
import type { AttemptFiles, EndRecord } from '../attempt-files.ts';
import { attemptKey } from '../attempt-files.ts';
import { embeddedErrors } from '../errors.ts';
import { type RunStep, setUp } from './environment.ts';
import { leaveEnvironments } from './environment-cache.ts';
import type { Lifeline } from './lifeline.ts';
import type { PipePool } from './pipes.ts';
import type { ProcessScan } from './process-scan.ts';

/** What an attempt needs of its agent. */
export interface AttemptHost {
  readonly instance: string;
  readonly node: string;
  readonly files: AttemptFiles;
  readonly environments: string;
  readonly pipes: PipePool;
  readonly lifeline: Lifeline;
  readonly scan: ProcessScan;
  readonly clock: Clock;
  /** Environment that every attempt starts from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly changed: (attempt: RunningAttempt) => void;
}

/** Background processes that a finished entrypoint left behind get this long after SIGTERM. */
const leftoverGrace = 1_000;
/** How long output that nobody known can still be writing is waited for. */
const outputGrace = 500;
const keptOfSetup = 4_000;
const setupLogLimits = { segmentBytes: 256 << 10, maxBytes: 1 << 20 };

/** One attempt on its node, from taking it over to its end record. */
export class RunningAttempt {
  readonly order: AttemptOrder;
  readonly #host: AttemptHost;
  readonly #word: string;
  readonly #extraEnv: Readonly<Record<string, string>>;
  readonly #log: LogWriter;
  #setupLog: LogWriter | undefined;
  readonly #stopping = new AbortController();
  #state: AttemptReport['state'] = 'setting-up';
  #leader: ChildProcess | undefined;
  #startedAt: Instant | undefined;
  /** The same moment on a clock that is never set. */
  #startedMoment = 0;
  #end: EndRecord | undefined;
  #stop:
    | { readonly cause: EndCause; readonly message: string; readonly done: Promise<unknown>; deadline: number }
    | undefined;
  /** Resolves when the attempt is over and its end is on disk. */
  readonly over: Promise<void>;

  constructor(order: AttemptOrder, extraEnv: Readonly<Record<string, string>>, host: AttemptHost) {
    this.order = order;
    this.#host = host;
    this.#extraEnv = extraEnv;
    this.#word = `${host.instance}/${attemptKey(order.id)}`;
    this.#log = openLogWriter(order.log, { now: () => host.clock.now() });
    this.over = this.#run();
  }

  get session(): number | undefined {
    return this.#leader?.pid;
  }

  get running(): boolean {
    return this.#state === 'running' && this.#stop === undefined;
  }

  get report(): AttemptReport {
    const pid = this.#leader?.pid;
    return {
      id: this.order.id,
      state: this.#state,
      node: this.#host.node,
      ...(pid === undefined ? {} : { pid }),
      ...(this.#startedAt === undefined
        ? {}
        : { startedAt: this.#startedAt, ranFor: performance.now() - this.#startedMoment }),
      ...(this.#setupLog && this.#state === 'setting-up'
        ? { message: `Setting up the runtime environment (${setupWords(this.order)}).` }
        : {}),
      ...this.#end,
      logSize: this.#log.size,
    };
  }

  /** The attempt's processes now. */
  tree(): ReturnType<ProcessScan['tree']> {
    return this.#host.scan.tree(this.session, this.#word, this.#host.files.workFolder(this.order.id));
  }

  /** Ends the whole tree: SIGTERM, SIGKILL after `grace`. The first cause counts; a later call can only shorten the grace. */
  stop(grace: Duration, cause: EndCause, message: string): void {
    if (this.#state === 'ended') return;
    const deadline = performance.now() + grace;
    if (this.#stop && this.#stop.deadline <= deadline) return;
    const done = this.#endProcesses(grace);
    this.#stop = this.#stop ? { ...this.#stop, done, deadline } : { cause, message, done, deadline };
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    // Lets the taker of the order say so before anything happens.
    await Promise.resolve();
    let end: Pick<EndRecord, 'cause' | 'message' | 'exitCode'>;
    try {
      const env = await this.#prepare();
      end = this.#stop ?? (await this.#runEntrypoint(env));
    } catch (error) {
      const message = messageOf(error);
      const cause = embeddedErrors.SetupFailed.is(error) ? 'setup-failed' : 'start-failed';
      end = { cause, message };
      if (cause === 'setup-failed' && !this.#stop) await this.#showSetup(message);
    }
    this.#setupLog?.end();
    if (this.#stop) {
      await this.#stop.done;
      const { exitCode } = end;
      end = { cause: this.#stop.cause, message: this.#stop.message, ...(exitCode === undefined ? {} : { exitCode }) };
    }
    await this.#finish(end);
  }

  /** Working folder and environment. */
  async #prepare(): Promise<NodeJS.ProcessEnv> {
    const order = this.order;
    const host = this.#host;
    const work = host.files.makeWorkFolder(order.id);
    if (order.workingDir !== undefined)
      await cp(order.workingDir, work, {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
        mode: fileModes.COPYFILE_FICLONE,
      });
    const base = { ...host.env, ...order.env };
    if (order.setup.length === 0) return { ...base, ...this.#ownEnv() };
    this.#setupLog = openLogWriter(setupLogOf(order.log), { ...setupLogLimits, now: () => host.clock.now() });
    host.changed(this);
    const late = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, late.signal]);
    const timer = order.setupTimeout === undefined ? undefined : setTimeout(() => late.abort(), order.setupTimeout);
    late.signal.addEventListener('abort', () => void this.#endProcesses(leftoverGrace));
    try {
      const run: RunStep = (program, args, cwd) => this.#runStep(program, args, cwd, base, signal);
      const cache = { cache: host.environments, user: attemptKey(order.id), now: () => host.clock.now() };
      const added = await setUp(order.setup, base, { ...cache, signal, run });
      late.signal.throwIfAborted();
      return { ...base, ...added, ...this.#ownEnv() };
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw embeddedErrors.SetupFailed({ step: setupWords(order), problem: timeoutText(order.setupTimeout) }, error);
    } finally {
      clearTimeout(timer);
    }
  }

  #endProcesses(grace: Duration): Promise<unknown> {
    return endProcesses(async () => (await this.tree()).map((row) => row.pid), grace);
  }

  /** A job that never ran has no output: what its setup said is what its reader looks for. */
  async #showSetup(message: string): Promise<void> {
    const folder = setupLogOf(this.order.log);
    const before = this.#log.size;
    for (let at = 0; at < (this.#setupLog?.size ?? 0); ) {
      const piece = await readLog(folder, at, 64 << 10).catch(() => undefined);
      if (piece === undefined || piece.next === at) break;
      this.#log.write(piece.bytes);
      at = piece.next;
    }
    if (this.#log.size === before) this.#log.write(Buffer.from(`${message}\n`));
  }

  #ownEnv(): Record<string, string> {
    return { ...this.#extraEnv, [markVariable]: markOf(this.#host.instance, this.#word) };
  }

  /** One program of the setup; its output goes to the log of the setup and its end to the error. */
  #runStep(
    program: string,
    args: readonly string[],
    cwd: string,
    env: NodeJS.ProcessEnv,
    signal: AbortSignal,
  ): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    signal.throwIfAborted();
    const quiet = args[0] === '-c' || args[0] === '--version';
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...this.#ownEnv() },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        if (!quiet) this.#setupLog?.write(bytes);
        text = (text + bytes.toString('utf8')).slice(-keptOfSetup);
      });
    child.on('error', reject);
    child.on('close', (code, ended) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${program} exited with ${ended ?? code}\n${text.trim()}`));
    });
    return promise;
  }

  async #runEntrypoint(env: NodeJS.ProcessEnv): Promise<Pick<EndRecord, 'cause' | 'message' | 'exitCode'>> {
    const host = this.#host;
    const pipe = await host.pipes.take();
    if (this.#stop) {
      closeSync(pipe.read);
      closeSync(pipe.write);
      return this.#stop;
    }
    const output = new Socket({ fd: pipe.read, readable: true, writable: false });
    output.on('data', (bytes: Buffer) => this.#log.write(bytes));
    output.on('error', () => {});
    const closed = new Promise<void>((resolve) => output.on('close', () => resolve()));
    const leader = spawn('/bin/sh', ['-c', this.order.entrypoint], {
      cwd: host.files.workFolder(this.order.id),
      env,
      detached: true,
      stdio: ['ignore', pipe.write, pipe.write],
    });
    closeSync(pipe.write);
    this.#leader = leader;
    if (leader.pid === undefined) {
      const [error] = (await new Promise((resolve) => leader.on('error', (...args) => resolve(args)))) as [Error];
      output.destroy();
      throw error;
    }
    const session = leader.pid;
    host.lifeline.add(session);
    leader.on('error', () => {});
    this.#startedAt = host.clock.now();
    this.#startedMoment = performance.now();
    this.#state = 'running';
    const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      leader.on('exit', (code, signal) => resolve([code, signal])),
    );
    host.changed(this);
    const [code, signal] = await exited;
    await this.#endLeftovers();
    await this.#drainOutput(output, closed, pipe.read);
    host.lifeline.remove(session);
    return ending(code, signal);
  }

  /** What the entrypoint left running is part of the attempt and ends with it. */
  async #endLeftovers(): Promise<void> {
    await (this.#stop?.done ?? this.#endProcesses(leftoverGrace));
    // A stop may have come, and begun to end the tree, while the leftovers were ended.
    await this.#stop?.done;
  }

  async #drainOutput(output: Socket, closed: Promise<void>, fd: number): Promise<void> {
    const given = async (time: Duration): Promise<boolean> =>
      Promise.race([closed.then(() => true), sleep(time, false, { ref: false })]);
    if (await given(outputGrace)) return;
    // Anyone who still holds the pipe has shed session and environment; the pipe gives it away.
    for (const pid of holdersOfPipe(fd)) sendSignal(pid, 'SIGKILL');
    if (!(await given(outputGrace))) output.destroy();
  }

  async #finish(end: Pick<EndRecord, 'cause' | 'message' | 'exitCode'>): Promise<void> {
    const { files, clock } = this.#host;
    // A full disk must not turn an exit into a lie: the end is reported when it could be written, not before.
    for (;;) {
      try {
        this.#log.end();
        const record: EndRecord = {
          ...end,
          ...(this.#startedAt === undefined ? {} : { startedAt: this.#startedAt }),
          // A clock that was set back must not make an attempt end before it started.
          endedAt: Math.max(clock.now(), this.#startedAt ?? 0),
          logSize: this.#log.size,
        };
        files.writeEnd(this.order.id, record);
        this.#end = record;
        break;
      } catch {
        await sleep(500);
      }
    }
    if (this.order.setup.length > 0) leaveEnvironments(this.#host.environments, attemptKey(this.order.id));
    this.#state = 'ended';
    this.#host.changed(this);
  }
}

/** In Ray's words. */
const timeoutText = (timeout: Duration = 0): string =>
  `TimeoutError: Failed to install runtime_env within the timeout of ${timeout / 1_000} seconds. Consider increasing the timeout in the runtime_env config, for example: runtime_env={"config": {"setup_timeout_seconds": 1800}, ...}`;

const setupWords = (order: AttemptOrder): string => [...new Set(order.setup.map((step) => step.kind))].join(', ');

function ending(code: number | null, signal: NodeJS.Signals | null): Pick<EndRecord, 'cause' | 'message' | 'exitCode'> {
  if (code === 0) return { cause: 'succeeded', exitCode: 0, message: 'exit code 0' };
  if (signal === null) return { cause: 'failed', exitCode: code ?? 1, message: `exit code ${code}` };
  return { cause: 'failed', exitCode: 128 + (osConstants.signals[signal] ?? 0), message: `killed by ${signal}` };
}
