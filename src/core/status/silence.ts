import type { Instant } from '../../base/time/clock.ts';
import { durationWords } from '../plan/words.ts';
import type { Silence, Silences } from '../view.ts';

/** How the sides of a cluster are called in its texts. */
export interface SideNames {
  readonly engine: string;
  readonly provider: string;
}

/** `Ray has not responded for 3 min: no connection`. */
export const silenceWords = (name: string, { since, reason }: Silence, now: Instant): string =>
  `${name} has not responded for ${durationWords(now - since)}: ${reason}`;

/** What is not known of a cluster, and why, a line each; none while all sides answer. Ray's text has no words for it. */
export function silenceLines(silent: Silences, unknown: number, names: SideNames, now: Instant): string[] {
  const sides = (['engine', 'provider'] as const).flatMap((side) => {
    const silence = silent[side];
    return silence === undefined ? [] : [asSentence(silenceWords(names[side], silence, now))];
  });
  const machines =
    unknown === 1
      ? '1 machine is running, but what runs on it'
      : `${unknown} machines are running, but what runs on them`;
  return unknown > 0 ? [...sides, `${machines} is unknown`] : sides;
}

const asSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
