import type { Clock, Duration } from './clock.ts';

/** One look at something that is on its way. `cause`: what stands in its way; a final one does not pass. */
export type Look<Cause> =
  | { readonly state: 'done'; readonly says: string }
  | { readonly state: 'waiting'; readonly says: string; readonly cause?: Cause };

export interface Looking<Cause> {
  readonly look: () => Promise<Look<Cause>>;
  /** Hears of every look that differs from the one before. */
  readonly tell: (look: Look<Cause>) => void;
  readonly clock: Clock;
  readonly timeout: Duration;
  readonly pause: Duration;
  readonly signal: AbortSignal;
}

/** Looks again and again until it is done, until a cause is final, or until the time is up; returns the last look. */
export async function untilDone<Cause extends { readonly says: string; readonly isFinal: boolean }>(
  looking: Looking<Cause>,
): Promise<Look<Cause>> {
  const { clock, signal } = looking;
  const until = clock.now() + looking.timeout;
  for (let told = ''; ; ) {
    const seen = await looking.look();
    const line = `${seen.state} ${seen.says} ${seen.state === 'done' ? '' : (seen.cause?.says ?? '')}`;
    if (line !== told) looking.tell(seen);
    told = line;
    if (seen.state === 'done' || seen.cause?.isFinal || clock.now() > until) return seen;
    await clock.sleep(looking.pause, signal);
  }
}
