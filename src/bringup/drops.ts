import { sshErrors } from '../base/ssh/errors.ts';

/** A host that drops every connection is broken, and its user is to hear of it. */
const mostDrops = 5;

/** Does again what may be done again when the connection to the host was lost on the way. */
export async function throughDrops<Result>(
  work: () => Promise<Result>,
  onDrop: (why: Error) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (let drops = 1; ; drops++)
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !sshErrors.Dropped.is(error) || drops >= mostDrops) throw error;
      onDrop(error);
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
