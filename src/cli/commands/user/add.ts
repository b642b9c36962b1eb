import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { userAddOptions } from './declaration.ts';

export const run: Run<typeof userAddOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const { admin, weight } = invocation.options;
    const name = invocation.args[0]!;
    const answer = await http.json<{ user: { name: string }; token: string }>('POST', '/api/manta/v1/users', {
      json: { name, ...(admin && { admin }), ...(weight !== undefined && { weight }) },
    });
    const { url } = await http.target.place(io.signal);
    io.out(
      io.json
        ? `${JSON.stringify(answer)}\n`
        : [
            `user '${answer.user.name}' can use the cluster with these variables; the token is not shown again:`,
            `export RAY_API_SERVER_ADDRESS=${url}`,
            'export RAY_AUTH_MODE=token',
            `export RAY_AUTH_TOKEN=${answer.token}`,
            '',
          ].join('\n'),
    );
    return 0;
  });
