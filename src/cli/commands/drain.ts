import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';

interface DrainAnswer {
  readonly instance: string;
  readonly accepted: boolean;
  readonly reason?: string;
}

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const path = `/api/manta/v1/nodes/${encodeURIComponent(invocation.args[0]!)}/drain`;
    const answer = await http.json<DrainAnswer>('POST', path, { repeatable: true });
    const words = answer.accepted
      ? `${answer.instance} gets no more work and ends when it is idle; 'manta why ${answer.instance}' says how far it is`
      : `${answer.instance} was not drained: ${answer.reason ?? 'the engine refused'}`;
    io.out(io.json ? `${JSON.stringify(answer)}\n` : `${words}\n`);
    return answer.accepted ? 0 : 1;
  });
