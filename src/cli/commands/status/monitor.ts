import type { ClusterAnswer, EventAnswer } from '../../../api/types.ts';
import { lastEvents, readStream } from '../../../client/stream.ts';
import type { Io, Run } from '../../command.ts';
import { styleFor } from '../../render/style.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { localTime } from '../../shared/times.ts';
import type { monitorOptions } from './declaration.ts';
import { eventLine } from './show-events.ts';

export const run: Run<typeof monitorOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const lines = invocation.options.lines;
    const past = await lastEvents(http);
    for (const event of past.slice(past.length - Math.min(lines, past.length))) io.out(eventLine(event, io));
    let shown = '';
    for await (const message of readStream(http, past.at(-1)?.seq ?? 0, io)) {
      if (message.kind === 'event') io.out(eventLine(message.data as EventAnswer, io));
      if (message.kind !== 'cluster') continue;
      const cluster = message.data as ClusterAnswer;
      const text = summaryOf(cluster);
      if (text !== shown) io.out(io.json ? `${JSON.stringify({ cluster })}\n` : summaryLine(cluster.now, text, io));
      shown = text;
    }
    return 0;
  });

/** One line: nodes, usage, jobs. */
export function summaryOf({ nodes, usage, jobs }: ClusterAnswer): string {
  const { running, pending, draining, failed } = nodes;
  const more = [
    pending > 0 ? `${pending} pending` : '',
    draining > 0 ? `${draining} draining` : '',
    failed > 0 ? `${failed} failed` : '',
  ].filter((part) => part !== '');
  const used = Object.entries(usage)
    .filter(([name]) => !name.includes(':') && !name.includes('memory'))
    .map(([name, { used: taken, total }]) => `${rounded(taken)}/${rounded(total)} ${name}`);
  return [
    `nodes: ${[`${running} running`, ...more].join(', ')}`,
    ...(used.length > 0 ? [`used: ${used.join(', ')}`] : []),
    `jobs: ${jobs.running + jobs.starting + jobs.stopping} running, ${jobs.queued + jobs.held} waiting`,
  ].join('; ');
}

const rounded = (amount: number): number => Math.round(amount * 100) / 100;
const summaryLine = (at: number, text: string, io: Io): string => {
  const style = styleFor(io.color);
  return `${style.dim(localTime(at))}  ${style.cyan(text)}\n`;
};
