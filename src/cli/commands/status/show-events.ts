import type { EventAnswer } from '../../../api/types.ts';
import { lastEvents, readStream } from '../../../client/stream.ts';
import type { Io, Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { printable } from '../../render/renderer.ts';
import { styleFor } from '../../render/style.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { instantOf, localTime } from '../../shared/times.ts';
import type { eventsOptions } from './declaration.ts';

const ranks: Readonly<Record<EventAnswer['level'], number>> = { debug: 0, info: 1, result: 1, warn: 2, error: 3 };

export const run: Run<typeof eventsOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const { since: text, level, lines } = invocation.options;
    const since = text === undefined ? undefined : instantOf(text, Date.now(), -1);
    if (text !== undefined && since === undefined)
      throw cliErrors.BadValue({
        command: 'manta events',
        option: '--since',
        value: text,
        expected: 'a duration such as 10m, or a date and time',
      });
    const isWanted = (event: EventAnswer): boolean => ranks[event.level] >= ranks[level] && event.at >= (since ?? 0);
    const past = await lastEvents(http);
    const wanted = past.filter(isWanted);
    for (const event of since === undefined ? wanted.slice(-lines || wanted.length) : wanted)
      io.out(eventLine(event, io));
    if (!invocation.options.follow) return 0;
    for await (const message of readStream(http, past.at(-1)?.seq ?? 0, io)) {
      if (message.kind !== 'event') continue;
      const event = message.data as EventAnswer;
      if (isWanted(event)) io.out(eventLine(event, io));
    }
    return 0;
  });

export function eventLine(event: EventAnswer, io: Io): string {
  if (io.json) return `${JSON.stringify(event)}\n`;
  const style = styleFor(io.color);
  const text = printable(event.text);
  const mark = event.level === 'error' ? style.red('error: ') : event.level === 'warn' ? style.yellow('warning: ') : '';
  return `${style.dim(localTime(event.at))}  ${mark}${text}\n`;
}
