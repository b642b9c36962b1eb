import type { Ending, JobsClient, OutputPiece } from '../../../client/jobs.ts';
import type { Io } from '../../command.ts';
import { cliEvents } from '../../events.ts';
import { type RayOutput, rayExitCode } from '../../shared/ray-output.ts';

/** Exit codes of commands that wait for a job; docs/exit-codes.md. */
const stoppedExit = 8;
const lostExit = 9;
const detachedExit = 130;

/** The job's own exit code where it has one. */
export function exitCodeOf({ state, exitCode, cause }: Ending): number {
  if (state === 'succeeded') return 0;
  if (state === 'stopped') return stoppedExit;
  if (cause !== undefined && cause !== 'failed') return lostExit;
  if (exitCode === undefined) return lostExit;
  // Ray gives a signal as a negative number, a shell as 128 and more.
  const code = exitCode < 0 ? 128 - exitCode : exitCode;
  return code >= 1 && code <= 255 ? code : 1;
}

/** What became of Ctrl-C while a command may be left running. */
export interface Detaching {
  /** Aborted when the command is ended, and when the user detaches. */
  readonly signal: AbortSignal;
  readonly detached: () => boolean;
  detach(): void;
}

export function interruptible(io: Io): Detaching {
  const controller = new AbortController();
  return {
    signal: AbortSignal.any([io.signal, controller.signal]),
    detached: () => controller.signal.aborted,
    detach: () => controller.abort(),
  };
}

export interface FollowOptions {
  readonly detaching: Detaching;
  /** The attempt to begin with. */
  readonly attempt: number;
  /** Tells the end in Ray's words, with Ray's exit code. */
  readonly ray?: RayOutput | undefined;
}

/** Prints output until the job is over and says what became of it; returns the exit code. Ctrl-C asks what it means. */
export async function followToEnd(
  jobs: JobsClient,
  id: string,
  { detaching, attempt, ray }: FollowOptions,
  io: Io,
): Promise<number> {
  const gate = new Gate();
  const giveBack = io.takeInterrupts?.(() => void onInterrupt());
  let asking: AbortController | undefined;
  const onInterrupt = async (): Promise<void> => {
    if (asking !== undefined || !isInteractive(io)) return detaching.detach();
    asking = new AbortController();
    gate.close();
    io.events.emit(cliEvents.jobAsking, { job: id });
    const answer = await lineOf(io, AbortSignal.any([asking.signal, detaching.signal]));
    asking = undefined;
    if (answer === undefined || /^d/i.test(answer)) return detaching.detach();
    gate.open();
    if (!/^s/i.test(answer)) return;
    io.events.emit(cliEvents.jobStopping, { job: id });
    await jobs.stop(id).catch(() => undefined);
  };
  try {
    const ending = await printOutput(jobs.follow(id, { from: attempt }), io, { gate, signal: detaching.signal });
    if (ray === undefined) return await tellEnd(jobs, id, ending, io);
    ray.status(await jobs.get(id));
    return rayExitCode(ending.state);
  } catch (error) {
    if (io.signal.aborted || detaching.detached()) io.events.emit(cliEvents.jobDetached, { job: id });
    if (!io.signal.aborted && detaching.detached()) return detachedExit;
    throw error;
  } finally {
    giveBack?.();
  }
}

/** Says how a job ended, with its reason; returns the exit code. */
async function tellEnd(jobs: JobsClient, id: string, ending: Ending, io: Io): Promise<number> {
  const { state, exitCode, cause } = ending;
  if (state === 'succeeded') io.events.emit(cliEvents.jobSucceeded, { job: id });
  else if (state === 'stopped') io.events.emit(cliEvents.jobStopped, { job: id });
  else {
    const { message } = await jobs.get(id);
    // The output that the message quotes was printed already.
    io.events.emit(cliEvents.jobFailed, { job: id, message: message.replace(/, last available logs[^]*$/, '') });
  }
  if (io.json) io.out(`${JSON.stringify({ id, state, exitCode, cause })}\n`);
  return exitCodeOf(ending);
}

export interface PrintOptions {
  readonly gate?: Gate;
  readonly signal?: AbortSignal;
  readonly grep?: string;
}

/** Prints pieces as they come: the bytes themselves, or JSON lines. */
export async function printOutput<End>(
  pieces: AsyncGenerator<OutputPiece, End>,
  io: Io,
  { gate, signal, grep }: PrintOptions = {},
): Promise<End> {
  const filter = grep === undefined ? undefined : new LineFilter(grep);
  let last = 10;
  const print = (bytes: Buffer, piece?: OutputPiece): void => {
    last = bytes.at(-1) ?? last;
    if (bytes.length > 0) io.out(io.json ? lineFor(bytes, piece) : bytes);
  };
  try {
    for (;;) {
      const next = await pieces.next();
      await gate?.passed(signal);
      if (next.done === true) {
        if (filter !== undefined) print(filter.end());
        // On a screen what is said next must not stand behind an unfinished line; in a file every byte is the job's.
        if (io.terminal && !io.json && last !== 10) io.out('\n');
        return next.value;
      }
      print(filter === undefined ? next.value.bytes : filter.take(next.value.bytes), next.value);
    }
  } finally {
    await pieces.return(undefined as never);
  }
}

function lineFor(bytes: Buffer, piece: OutputPiece | undefined): string {
  const place = { attempt: piece?.attempt, offset: piece?.offset };
  const text = bytes.toString('utf8');
  return `${JSON.stringify(Buffer.from(text).equals(bytes) ? { ...place, text } : { ...place, bytes: bytes.toString('base64') })}\n`;
}

/** Whole lines that contain a text, out of pieces cut anywhere. */
class LineFilter {
  readonly #needle: Buffer;
  #rest: Buffer = Buffer.alloc(0);

  constructor(text: string) {
    this.#needle = Buffer.from(text);
  }

  take(bytes: Buffer): Buffer {
    const all = Buffer.concat([this.#rest, bytes]);
    const found: Buffer[] = [];
    let begin = 0;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10, begin)) {
      const line = all.subarray(begin, end + 1);
      if (line.includes(this.#needle)) found.push(line);
      begin = end + 1;
    }
    this.#rest = all.subarray(begin);
    return Buffer.concat(found);
  }

  end(): Buffer {
    return this.#rest.includes(this.#needle) ? this.#rest : Buffer.alloc(0);
  }
}

/** Holds the output back while a question is on the screen. */
export class Gate {
  #closed: PromiseWithResolvers<void> | undefined;

  close(): void {
    this.#closed ??= Promise.withResolvers<void>();
  }

  open(): void {
    this.#closed?.resolve();
    this.#closed = undefined;
  }

  async passed(signal: AbortSignal | undefined): Promise<void> {
    if (this.#closed === undefined) return;
    const aborted = new Promise<void>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    await Promise.race([this.#closed.promise, aborted]);
  }
}

const isInteractive = (io: Io): boolean => io.terminal && (io.stdin as { isTTY?: boolean }).isTTY === true;

/** One line from the terminal; undefined when it is closed or the question is withdrawn. */
async function lineOf(io: Io, signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: io.stdin });
  try {
    return await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
  } finally {
    lines.close();
    io.stdin.pause();
  }
}
