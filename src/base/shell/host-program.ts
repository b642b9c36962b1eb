import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { crypto } from '../crypto.ts';
import type { HostResult, RunOptions } from '../host.ts';
import { StreamMark } from '../network/stream-mark.ts';

/** How a program sent to a shell came out. `begun`: the shell on the other side had started to read it. */
export type ProgramOutcome =
  | { readonly kind: 'ended'; readonly result: HostResult }
  | {
      readonly kind: 'broken';
      readonly begun: boolean;
      readonly stderr: string;
      readonly code: number | null;
      /** What stood on standard output where the beginning should have been. */
      readonly instead: string;
    }
  | { readonly kind: 'late'; readonly begun: boolean; readonly stderr: string }
  | { readonly kind: 'not-started'; readonly error: NodeJS.ErrnoException };

/** As much of a child process as it takes to run a program in it. */
export interface RunningProgram {
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  once(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
  once(event: 'close' | 'exit', listener: (code: number | null) => void): unknown;
  unref(): void;
}

export interface ProgramRun<Child extends RunningProgram = ChildProcess> extends RunOptions {
  /** Called once, when the shell on the other side has begun. */
  readonly onBegun?: () => void;
  /** Ends the child and what belongs to it. */
  readonly end: (child: Child, signal: NodeJS.Signals) => void;
}

const defaultWithin = 60_000;
/** Longest that the child may stay after its program has ended: something that was left there may hold its output. */
const lingering = 300;

export const newMark = (): string => crypto().randomBytes(16).toString('hex');

/** What is sent to `sh -s`. A program that arrives in part is not run: the parentheses do not close. */
function framed(program: string, mark: string): string {
  return `printf '%s\\n' ${mark}; printf '%s\\n' ${mark} >&2\n(\n${program}\n) </dev/null\nprintf '%s %s\\n' ${mark} "$?"\n`;
}

/** Runs a program in a `sh -s` that `start` starts with pipes. Throws the signal's reason when aborted. */
export async function runProgram<Child extends RunningProgram>(
  start: () => Child,
  program: string,
  options: ProgramRun<Child>,
): Promise<ProgramOutcome> {
  const mark = newMark();
  return await runMarked(start, framed(program, mark), mark, options);
}

/**
 * Runs a child whose standard output is `mark`, newline, what it prints, `mark`, blank, its exit code, newline; noise in
 * front of the first mark is dropped, on standard error too, where a mark alone stands for the beginning.
 */
export async function runMarked<Child extends RunningProgram>(
  start: () => Child,
  input: string | Uint8Array,
  mark: string,
  options: ProgramRun<Child>,
): Promise<ProgramOutcome> {
  options.signal.throwIfAborted();
  const child = start();
  const stdout: Buffer[] = [];
  const noise: Buffer[] = [];
  const body = new StreamMark(`${mark} `, options.onStdout ?? ((bytes) => void stdout.push(bytes)));
  let instead = '';
  const opening = new StreamMark(`${mark}\n`, (bytes) => {
    instead = `${instead}${bytes.toString()}`.slice(-4_000);
  });
  const errors = new StreamMark(`${mark}\n`, (bytes) => void noise.push(bytes));
  let begun = false;

  const ended = Promise.withResolvers<ProgramOutcome>();
  const codeAtEnd = (): number | undefined => {
    const found = /^(\d+)\n/.exec(body.after?.toString('latin1') ?? '');
    return found ? Number(found[1]) : undefined;
  };
  const stderrText = (): string => (errors.after ?? Buffer.concat(noise)).toString();
  const whole = (code: number): ProgramOutcome => ({
    kind: 'ended',
    result: { code, stdout: Buffer.concat(stdout).toString(), stderr: stderrText() },
  });

  let lingers: NodeJS.Timeout | undefined;
  const onStdout = (piece: Buffer): void => {
    if (begun) body.push(piece);
    else {
      opening.push(piece);
      if (opening.after === undefined) return;
      begun = true;
      options.onBegun?.();
      body.push(opening.after);
    }
    const code = codeAtEnd();
    if (code !== undefined) lingers ??= setTimeout(() => ended.resolve(whole(code)), lingering);
  };
  child.stdout?.on('data', onStdout);
  child.stderr?.on('data', (piece: Buffer) => errors.push(piece));
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  child.once('error', (error) => ended.resolve({ kind: 'not-started', error }));
  child.once('close', (code) => {
    if (!begun) opening.end();
    body.end();
    errors.end();
    const reported = codeAtEnd();
    if (reported !== undefined) ended.resolve(whole(reported));
    // The shell could not read the program to its end: a mistake in it, not in the connection, which is 255.
    else if (begun && code !== null && code !== 255) ended.resolve(whole(code));
    else {
      const stderr = begun ? stderrText() : Buffer.concat(noise).toString();
      ended.resolve({ kind: 'broken', begun, code, stderr, instead });
    }
  });

  const within = options.within ?? defaultWithin;
  const late = Number.isFinite(within)
    ? setTimeout(() => ended.resolve({ kind: 'late', begun, stderr: stderrText() }), within)
    : undefined;
  const aborted = (): void => ended.reject(options.signal.reason as Error);
  options.signal.addEventListener('abort', aborted, { once: true });
  try {
    return await ended.promise;
  } finally {
    options.signal.removeEventListener('abort', aborted);
    clearTimeout(late);
    clearTimeout(lingers);
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) endChild(child, options.end);
  }
}

/** Nobody waits for it any more: it is ended, and its pipes hold nobody up. */
function endChild<Child extends RunningProgram>(child: Child, end: ProgramRun<Child>['end']): void {
  end(child, 'SIGTERM');
  const last = setTimeout(() => end(child, 'SIGKILL'), 2_000).unref();
  child.once('exit', () => clearTimeout(last));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  child.unref();
}
