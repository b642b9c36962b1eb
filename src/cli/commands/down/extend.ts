import type { ExtendBody, TurnOffAnswer } from '../../../api/types.ts';
import type { Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { durationGiven, instantGiven, turnOffStatus } from '../../shared/turn-off-words.ts';
import type { extendOptions } from './declaration.ts';

const command = 'manta extend';

export const run: Run<typeof extendOptions> = (invocation, io) => {
  const { args, options } = invocation;
  const until = options.until;
  const [first, second] = args;
  // Where one cluster is known its name may be left out, and the length of time stands in its place.
  const alone = until === undefined && second === undefined;
  const length = alone ? first : second;
  if ((length === undefined) === (until === undefined))
    throw cliErrors.BadValue({
      command,
      option: 'DURATION',
      value: length ?? '',
      expected: 'a duration such as 2h, or --until',
    });
  const body: ExtendBody =
    until === undefined
      ? { by: durationGiven(length ?? '', 'DURATION', command) }
      : { until: instantGiven(until, Date.now(), command) };
  const { cluster: _, ...nameless } = invocation;
  return withHead(alone ? nameless : invocation, io, async (http) => {
    const answer = await http.json<{ turnOff?: TurnOffAnswer }>('POST', '/api/manta/v1/extend', { json: body });
    if (io.json) io.out(`${JSON.stringify(answer)}\n`);
    else
      io.out(
        answer.turnOff === undefined
          ? 'This cluster has no automatic shutdown, so there is nothing to postpone.\n'
          : turnOffStatus(answer.turnOff).trimStart(),
      );
    return 0;
  });
};
