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
