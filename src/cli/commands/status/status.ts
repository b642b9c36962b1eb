import type { StatusAnswer } from '../../../api/types.ts';
import { stoppedLines } from '../../../core/status/stopped.ts';
import { stateErrors } from '../../../state/errors.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import { turnOffStatus } from '../../shared/turn-off-words.ts';
import type { statusOptions } from './declaration.ts';

export const run: Run<typeof statusOptions> = async (invocation, io) => {
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) {
    const code = await (await import('./kube.ts')).statusOnKube(onKube, io);
    if (code !== undefined) return code;
  }
  return await askHead(invocation, io);
};

const askHead: Run<typeof statusOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const answer = await http.json<StatusAnswer>('GET', '/api/manta/v1/status');
    const text = invocation.options.verbose ? answer.verboseText : answer.text;
    io.out(
      io.json
        ? `${JSON.stringify(answer)}\n`
        : `${text.trimEnd()}\n${unknownStatus(answer)}${stoppedStatus(answer)}${turnOffStatus(answer.turnOff)}`,
    );
    return 0;
  }).catch((error: unknown) => {
    // A cluster that has ended by itself has a status too.
    if (!stateErrors.TurnedOff.is(error) && !stateErrors.HeadLost.is(error)) throw error;
    const { name, ended } = error.data;
    io.out(io.json ? `${JSON.stringify({ name, ended })}\n` : `${error.message}\n${error.hint ?? ''}\n`);
    return error.exit;
  });

const stoppedStatus = ({ status }: Partial<StatusAnswer>): string =>
  stoppedLines(status?.stopped)
    .map((line) => `\n${line}\n`)
    .join('');

/** Behind the text, whose lines are Ray's: there an engine that does not answer looks like one that has nothing to do. */
const unknownStatus = ({ unknown = [] }: Partial<StatusAnswer>): string =>
  unknown.length === 0 ? '' : `\n${unknown.join('\n')}\n`;
