import type { ClusterAnswer } from '../../../api/types.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { healthCheckOptions } from './declaration.ts';

export const run: Run<typeof healthCheckOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const { name, synced, unknown = [] } = await http.json<ClusterAnswer>('GET', '/api/manta/v1/cluster');
    if (io.json) io.out(`${JSON.stringify({ name, well: synced, ...(unknown.length > 0 && { unknown }) })}\n`);
    // Ray says nothing beside the exit code.
    else if (io.asRay !== true)
      io.out(
        synced
          ? `The cluster '${name}' is healthy.\n`
          : [`The head of '${name}' responds, but its engine does not.`, ...unknown, ''].join('\n'),
      );
    return synced ? 0 : 1;
  });
