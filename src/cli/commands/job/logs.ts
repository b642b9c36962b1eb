import type { OutputPiece, OutputQuery } from '../../../client/jobs.ts';
import { openJobs } from '../../../client/jobs.ts';
import type { InvocationOf, Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { rayOutput } from '../../shared/ray-output.ts';
import { instantOf } from '../../shared/times.ts';
import type { jobLogsOptions } from './declaration.ts';
import { printOutput } from './follow.ts';

export const run: Run<typeof jobLogsOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const id = invocation.args[0]!;
    const query = queryOf(invocation);
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const ray = rayOutput(invocation, io);
    await ray?.server(http);
    const { grep, tail, ...place } = query;
    if (invocation.options.follow) {
      await printOutput(jobs.follow(id, query), io, grep === undefined ? {} : { grep });
      ray?.status(await jobs.get(id));
    } else if (grep !== undefined && tail !== undefined) {
      await printOutput(lastLines(jobs.read(id, { ...place, grep }), tail), io);
    } else await printOutput(jobs.read(id, query), io);
    return 0;
  });

function queryOf({ options }: InvocationOf<typeof jobLogsOptions>): OutputQuery {
  const { tail, grep, since, attempt } = options;
  const from = since === undefined ? undefined : instantOf(since, Date.now(), -1);
  const bad = (option: string, value: string | number, expected: string): Error =>
    cliErrors.BadValue({ command: 'manta job logs', option, value: String(value), expected });
  if (since !== undefined && from === undefined)
    throw bad('--since', since, 'a duration such as 10m, or a date and time');
  if (tail !== undefined && tail < 0) throw bad('--tail', tail, 'a number of lines');
  if (attempt !== undefined && attempt < 1) throw bad('--attempt', attempt, 'a number of at least 1');
  return {
    ...(tail !== undefined && { tail }),
    ...(grep !== undefined && grep !== '' && { grep }),
    ...(from !== undefined && { since: from }),
    ...(attempt !== undefined && { attempt }),
  };
}

/** The last of the lines that were found. */
async function* lastLines(pieces: AsyncGenerator<OutputPiece>, count: number): AsyncGenerator<OutputPiece> {
  let kept: string[] = [];
  let last: OutputPiece | undefined;
  for await (const piece of pieces) {
    kept = [...kept, ...piece.bytes.toString('latin1').split(/(?<=\n)/)].slice(-count || Number.POSITIVE_INFINITY);
    last = piece;
  }
  if (last !== undefined && count > 0) yield { ...last, bytes: Buffer.from(kept.join(''), 'latin1') };
}
