import type { Clock, Duration } from './clock.ts';

/** Runs `work` with a signal that aborts when so much of the clock's time has passed. */
export async function within<Value>(
  clock: Clock,
  duration: Duration,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const [late, done] = [new AbortController(), new AbortController()];
  void clock.sleep(duration, done.signal).then(
    () => late.abort(new DOMException(`timed out after ${duration / 1_000} s`, 'TimeoutError')),
    () => {},
  );
  return await work(late.signal).finally(() => done.abort());
}

/** What was asked for, or the reason to wait no longer: for work that knows nothing of the signal. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop));
}
