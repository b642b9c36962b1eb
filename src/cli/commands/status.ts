import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';

interface StatusAnswer {
  readonly text: string;
  readonly verboseText: string;
}

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const answer = await http.json<StatusAnswer>('GET', '/api/manta/v1/status');
    const text = invocation.options['verbose'] === true ? answer.verboseText : answer.text;
    io.out(io.json ? `${JSON.stringify(answer)}\n` : `${text.trimEnd()}\n`);
    return 0;
  });
