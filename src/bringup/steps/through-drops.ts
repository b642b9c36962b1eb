import { mayComeUp } from '../../base/ssh/errors.ts';

/** A host that drops every connection is broken, and its user is to hear of it. */
const mostDrops = 5;

/**
 * Connects and does the work, and does it again from its beginning when the host was lost on the way, once it answers:
 * for work that may be repeated. What `connect` says of a host that does not come back is the outcome.
 */
export async function throughDrops<Result>(
  connect: () => Promise<void>,
  work: () => Promise<Result>,
  onDrop: (why: Error) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (let drops = 1; ; drops++) {
    await connect();
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !mayComeUp(error) || drops >= mostDrops) throw error;
      onDrop(error as Error);
    }
  }
}

/** Tells why a host is waited for, once for each reason and again after a while, not at every try. */
export function tellWaits(tell: (why: string) => void): (why: Error) => void {
  let [last, at] = ['', 0];
  return ({ message }) => {
    const now = performance.now();
    if (message === last && now - at < sayAgain) return;
    [last, at] = [message, now];
    tell(message);
  };
}

const sayAgain = 60_000;
