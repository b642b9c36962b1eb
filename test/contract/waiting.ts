import { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export const never = new AbortController().signal;

/**
 * Waits for something to become true; the deadline only catches hangs. A look that fails is made again, unless what it
 * found is wrong: on a busy machine a call may go without an answer.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + 180_000;
  for (let cause: unknown; ; ) {
    try {
      const found = await look();
      if (found) return found;
      cause = undefined;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      cause = error;
    }
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}`, { cause });
    await sleep(5);
  }
}
