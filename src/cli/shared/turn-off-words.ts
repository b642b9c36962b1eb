import type { ClusterAnswer, TurnOffAnswer } from '../../api/types.ts';
import { HttpClient } from '../../client/http.ts';
import { targetFor } from '../../client/target.ts';
import { durationOf } from '../../core/duration.ts';
import type { Io } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { instantOf, localTime } from './times.ts';

/** When `--for` and `--until` let a cluster end, by the clock where it runs; null for never. Undefined: neither was given. */
export function untilGiven(options: {
  readonly for?: string;
  readonly until?: string;
}): ((now: number) => number | null) | undefined {
  const { for: length, until: when } = options;
  if (length !== undefined) {
    const duration = durationGiven(length, '--for', 'manta up');
    return (now) => now + duration;
  }
  if (when === undefined) return undefined;
  if (when === 'never') return () => null;
  const at = instantGiven(when, Date.now(), 'manta up');
  return () => at;
}

export function durationGiven(text: string, option: string, command: string): number {
  const duration = /^\d+(\.\d+)?$/.test(text) ? undefined : durationOf(text);
  if (duration === undefined || duration <= 0)
    throw cliErrors.BadValue({ command, option, value: text, expected: 'a duration such as 8h or 90m' });
  return Math.round(duration);
}

/** `18:00` is the next time that the clock of this machine shows that. */
export function instantGiven(text: string, now: number, command: string): number {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  let at = instantOf(text, now, 1);
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60) {
    const day = new Date(now);
    day.setHours(Number(hours), Number(minutes), 0, 0);
    if (day.getTime() <= now) day.setDate(day.getDate() + 1);
    at = day.getTime();
  }
  if (at === undefined || at <= now)
    throw cliErrors.BadValue({
      command,
      option: '--until',
      value: text,
      expected: 'a time in the future, such as 18:00 or 2030-01-31 18:00',
    });
  return at;
}

/** After the text of `status`, whose lines are Ray's. */
export function turnOffStatus(turnOff: TurnOffAnswer | undefined): string {
  if (turnOff === undefined) return '';
  return `\n${turnOff.soon ? 'Soon: the' : 'The'} cluster ${turnOff.text}${whenWords(turnOff)}.\n`;
}

/** In the summary of `up`. */
export function turnOffLine(turnOff: TurnOffAnswer | undefined): string {
  return turnOff === undefined
    ? ''
    : `  auto shutdown      ${turnOff.text}${whenWords(turnOff)}; keep it longer with 'manta extend'\n`;
}

const whenWords = ({ at }: TurnOffAnswer): string => (at === undefined ? '' : `, at ${localTime(at)}`);

/** What a cluster that was brought up says of its end; nothing where it does not answer. */
export async function turnOffOf(name: string, io: Io): Promise<TurnOffAnswer | undefined> {
  const http = new HttpClient(targetFor({ name }, io.env, io.events), io.signal);
  try {
    return (await http.json<ClusterAnswer>('GET', '/api/manta/v1/cluster')).turnOff;
  } catch {
    return undefined;
  } finally {
    http.close();
  }
}
