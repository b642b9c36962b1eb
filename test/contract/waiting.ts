import { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export const never = new AbortController().signal;

/** Only catches hangs: a busy machine takes its time. */
export const patiently = (): AbortSignal => AbortSignal.timeout(240_000);

interface Waiting {
  /** Whether what a look finds wrong may come right. @default 'for good' */
  readonly wrong?: 'for good' | 'for now';
  /** In milliseconds. */
  readonly within?: number;
  /** Between looks, which grow rarer up to it. Longer where looking takes a core from what is waited for. @default 25 */
  readonly pause?: number;
}

/**
 * Waits for something to become true; the deadline only catches hangs. A look that fails is made again, unless what it
 * found is wrong and cannot come right: on a busy machine a call may go without an answer.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { wrong = 'for good', within = 240_000, pause = 25 }: Waiting = {},
): Promise<T> {
  const deadline = performance.now() + within;
  for (let next = 5; ; next = Math.min(pause, next * 1.5)) {
    let cause: unknown;
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      if (error instanceof AssertionError && wrong === 'for good') throw error;
      cause = error;
    }
    if (performance.now() > deadline) throw gaveUp(what, cause);
    await sleep(next);
  }
}

const gaveUp = (what: string, cause: unknown): Error =>
  new Error(`gave up waiting until ${what}${cause instanceof Error ? ` (last: ${cause.message})` : ''}`, { cause });
