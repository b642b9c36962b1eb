import type { DrainBody } from '../../../api/types.ts';
import type { InvocationOf, Io, Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';

interface DrainAnswer {
  readonly instance: string;
  readonly accepted: boolean;
  readonly reason?: string;
}

export const run: Run<typeof connectionOptions> = (invocation, io) => drainNode(invocation, io, {});

export const drainNode = (
  invocation: InvocationOf<typeof connectionOptions>,
  io: Io,
  body: DrainBody,
): Promise<number> =>
  withHead(invocation, io, async (http) => {
    const path = `/api/manta/v1/nodes/${encodeURIComponent(invocation.args[0]!)}/drain`;
    const answer = await http.json<DrainAnswer>('POST', path, { json: body, repeatable: true });
    const { instance } = answer;
    const ends =
      body.reason === 'preemption'
        ? 'it terminates when it is empty, or when its machine goes'
        : 'it terminates when it is idle';
    const words = answer.accepted
      ? `draining ${instance}: ${ends}; see 'manta why ${instance}' for its progress`
      : `${instance} was not drained: ${answer.reason ?? 'the engine refused'}`;
    io.out(io.json ? `${JSON.stringify(answer)}\n` : `${words}\n`);
    return answer.accepted ? 0 : 1;
  });
