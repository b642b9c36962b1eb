import { Cron } from 'croner';
import type { Instant } from '../../base/time/clock.ts';

/**
 * The next firing of a schedule strictly after an instant: five fields, in UTC unless `CRON_TZ=<zone>` stands in front.
 * Undefined when it never fires again.
 */
export function nextFiring(schedule: string, after: Instant): Instant | undefined {
  return parse(schedule)?.nextRun(new Date(after))?.getTime();
}

/** Undefined when the schedule can be read and fires some day, otherwise what is wrong with it. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    if (!parse(schedule)) return 'a schedule has five fields: minute, hour, day of month, month, day of week';
    return nextFiring(schedule, 0) === undefined ? 'it never fires: no year has such a day' : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function parse(schedule: string): Cron | undefined {
  const [, zone = 'UTC', fields = ''] = /^(?:CRON_TZ=(\S+)\s+)?(.*)$/s.exec(schedule.trim()) ?? [];
  if (!/^@(?:yearly|annually|monthly|weekly|daily|hourly)$/.test(fields) && fields.split(/\s+/).length !== 5)
    return undefined;
  return new Cron(fields, { timezone: zone, paused: true });
}
