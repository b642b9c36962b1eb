import type { StatusAnswer } from '../../api/types.ts';
import { headErrors } from '../../head/errors.ts';
import type { Run } from '../command.ts';
import type { statusOptions } from './cluster.ts';
import { withHead } from './cluster-connection.ts';
import { turnOffStatus } from './turn-off-words.ts';

export const run: Run<typeof statusOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const answer = await http.json<StatusAnswer>('GET', '/api/manta/v1/status');
    const text = invocation.options.verbose ? answer.verboseText : answer.text;
    io.out(
      io.json
        ? `${JSON.stringify(answer)}\n`
        : `${text.trimEnd()}\n${unknownStatus(answer)}${turnOffStatus(answer.turnOff)}`,
    );
    return 0;
  }).catch((error: unknown) => {
    // A cluster that has ended by itself has a status too.
    if (!headErrors.TurnedOff.is(error) && !headErrors.HeadLost.is(error)) throw error;
    const { name, ended } = error.data;
    io.out(io.json ? `${JSON.stringify({ name, ended })}\n` : `${error.message}\n${error.hint ?? ''}\n`);
    return error.exit;
  });

/** Behind the text, whose lines are Ray's: there an engine that does not answer looks like one that has nothing to do. */
const unknownStatus = ({ unknown = [] }: Partial<StatusAnswer>): string =>
  unknown.length === 0 ? '' : `\n${unknown.join('\n')}\n`;
