import { now } from '../state/clock.ts';
import { durationText, exactTime, relativeTime } from '../words/time.ts';

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {relativeTime(at, now.value)}
    </time>
  );
}

/** How long something took, or has been going on. */
export function Took({ from, to }: { from: number; to: number | undefined }) {
  return <span title={`since ${exactTime(from)}`}>{durationText((to ?? now.value) - from)}</span>;
}
