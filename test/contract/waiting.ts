import { setTimeout as sleep } from 'node:timers/promises';

export const never = new AbortController().signal;

/** Waits for something to become true; the deadline only catches hangs. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + 180_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}`);
    await sleep(5);
  }
}
