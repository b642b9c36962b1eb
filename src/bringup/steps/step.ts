import type { Host } from '../../base/host.ts';
import { StreamMark } from '../../base/network/stream-mark.ts';
import type { ProgramHost } from '../../base/one-session.ts';
import { newMark } from '../../base/shell/host-program.ts';
import { mayComeUp } from '../../base/ssh/errors.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { bringupErrors, lostWords } from '../errors.ts';
import { JobControlNoise } from './job-control-noise.ts';
import type { Fate } from './step-text.ts';
import { endText, followOnly, startAndFollow } from './step-text.ts';

export interface Step {
  /** Folder of the node's steps on the host, below the home of the user; each step is a folder in it, 0700. */
  readonly folder: string;
  /** Under one id a program is started once, no matter who asks or how often. */
  readonly id: string;
  readonly program: string;
  readonly shell: 'bash' | 'sh';
}

export interface StepOptions {
  /** An abort stops the following; the step runs on. `endSteps` ends it. */
  readonly signal: AbortSignal;
  /** What the step says, in order and without gaps; `offset` is the place of the first byte in its whole output. */
  readonly onOutput?: (bytes: Uint8Array, offset: number) => void;
  /** The connection was lost and is tried again. */
  readonly onReattach?: (why: Error) => void;
  /** Offset of the first byte that is wanted. @default 0 */
  readonly from?: number;
  /** How long a host that does not answer any more is tried again. @default 1 min */
  readonly awayFor?: Duration;
  readonly clock?: Clock;
}

export interface StepResult {
  readonly code: number;
}

/** How often a follower may end without an outcome though the connection holds: somebody may have killed it. */
const oddEnds = 20;
const usuallyAwayFor: Duration = 60_000;

/**
 * Runs a program on the host in a session of its own, so that it outlives the connection and this process, and follows
 * it to its end. A step that was started before, by whomever, is followed and not run again. A lost connection is tried
 * again. Throws StepErrors where there is no exit code, and the errors of SSH where waiting does not help, or has not helped
 * for `awayFor`: the step may be running all the same.
 */
export async function runStep(host: Host, step: Step, options: StepOptions): Promise<StepResult> {
  if (!/^[\w.-]+$/.test(step.id) || step.id.startsWith('.'))
    throw bringupErrors.StepNotStarted({ host: host.name, step: step.id, detail: 'its id is not a valid file name' });
  const clock = options.clock ?? wallClock;
  const awayFor = options.awayFor ?? usuallyAwayFor;
  const passed = (): Duration => clock.elapsed?.() ?? clock.now();
  const follower = new Follower(options.from ?? 0, options.onOutput);
  let pause = 50;
  let oddities = 0;
  let answered = passed();
  for (;;) {
    const before = follower.offset;
    const why = await followOnce(host, step, follower, options.signal);
    if (why === undefined) break;
    if (!mayComeUp(why) && ++oddities > oddEnds)
      throw bringupErrors.StepNotStarted({ host: host.name, step: step.id, detail: why.message }, why);
    if (follower.heard || !mayComeUp(why)) answered = passed();
    if (passed() - answered >= awayFor) throw why;
    options.onReattach?.(why);
    pause = follower.offset > before ? 50 : Math.min(pause * 2, 1_000);
    await clock.sleep(pause, options.signal);
  }
  return outcomeOf(host, step, follower.outcome as string);
}

/** Undefined when the outcome is there; otherwise why it has to be tried again. */
async function followOnce(host: Host, step: Step, follower: Follower, signal: AbortSignal): Promise<Error | undefined> {
  const seen = new AbortController();
  follower.begin(() => seen.abort());
  const text = follower.started ? followOnly(step, follower.offset) : startAndFollow(step, newMark(), follower.offset);
  try {
    const result = await host.sh(text, {
      signal: AbortSignal.any([signal, seen.signal]),
      within: Number.POSITIVE_INFINITY,
      onStdout: (bytes) => follower.push(Buffer.from(bytes)),
    });
    if (follower.outcome !== undefined) return undefined;
    if (result.code === 3) throw notStarted(host, step, result.stderr);
    return new Error(`its follower ended with ${result.code}: ${result.stderr.trim()}`);
  } catch (error) {
    if (follower.outcome !== undefined) return undefined;
    if (!signal.aborted && mayComeUp(error)) return error as Error;
    throw error;
  }
}

function notStarted(host: Host, step: Step, stderr: string): Error {
  const lines = stderr.trim().split('\n');
  const no = lines.find((line) => /no space left|quota exceeded/i.test(line));
  const full = no !== undefined;
  const detail = fromReason(no ?? lines.at(-1) ?? '');
  return (full ? bringupErrors.StepDiskFull : bringupErrors.StepNotStarted)({ host: host.name, step: step.id, detail });
}

/** Without the program and path in front of a full disk's reason. */
function fromReason(line: string): string {
  const lower = line.toLowerCase();
  const quota = lower.lastIndexOf('quota');
  const before = Math.max(lower.lastIndexOf(': no space'), quota < 0 ? -1 : lower.slice(0, quota).lastIndexOf(': '));
  return before < 0 ? line : line.slice(before + 2);
}

function outcomeOf(host: Host, step: Step, outcome: string): StepResult {
  if (/^\d+$/.test(outcome)) return { code: Number(outcome) };
  const fate = outcome as Fate;
  if (fate === 'full')
    throw bringupErrors.StepDiskFull({ host: host.name, step: step.id, detail: 'its result cannot be recorded' });
  throw bringupErrors.StepLost({ host: host.name, step: step.id, why: fate, words: lostWords[fate] });
}

/** Reads what followers send, one after the other, as one output. */
class Follower {
  /** Of the next byte that is still to come. */
  offset: number;
  started = false;
  outcome: string | undefined;
  readonly #noise: JobControlNoise;
  #onOutcome: () => void = () => {};
  #header = Buffer.alloc(0);
  #body: StreamMark | undefined;

  constructor(from: number, onOutput: StepOptions['onOutput']) {
    this.offset = from;
    this.#noise = new JobControlNoise(from, (bytes, offset) => onOutput?.(bytes, offset));
  }

  /** The host has said something since `begin`. */
  get heard(): boolean {
    return this.#body !== undefined;
  }

  begin(onOutcome: () => void): void {
    this.#onOutcome = onOutcome;
    this.#header = Buffer.alloc(0);
    this.#body = undefined;
  }

  push(bytes: Buffer): void {
    if (this.outcome !== undefined) return;
    if (!this.#body) {
      this.#header = Buffer.concat([this.#header, bytes]);
      const end = this.#header.indexOf('\n');
      if (end < 0) return;
      const mark = this.#header.toString('latin1', 0, end).split(' ')[1] ?? '';
      this.started = true;
      this.#body = new StreamMark(`${mark} `, (piece) => {
        this.offset += piece.length;
        this.#noise.push(piece);
      });
      this.#body.push(this.#header.subarray(end + 1));
    } else this.#body.push(bytes);
    const found = /^(\w+)\n/.exec(this.#body.after?.toString('latin1') ?? '');
    if (!found) return;
    this.outcome = found[1];
    this.#noise.end();
    this.#onOutcome();
  }
}

/**
 * Ends every step in the folder that has not come to its end, with all that it has started, and resolves when nothing of them
 * is left. What a step leaves behind that has ended itself is not touched.
 */
export async function endSteps(host: ProgramHost, folder: string, signal: AbortSignal): Promise<void> {
  const result = await host.sh(endText(folder), { signal });
  const left = result.stdout.trim();
  if (left !== '') throw bringupErrors.StepNotEnded({ host: host.name, pids: left.split(/\s+/).map(Number) });
}
