import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { owner } from '../../../state/owner.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';

export const run: Run<typeof connectionOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const name = invocation.args[0]!;
    const user = await http.json<{ name: string }>('DELETE', `/api/manta/v1/users/${encodeURIComponent(name)}`);
    const { folder } = http.target;
    // The head took the name as that of a user, so it has no slash in it. The owner's file has a new token by now.
    if (folder !== undefined && user.name !== owner) rmSync(join(folder.files.tokens, user.name), { force: true });
    const words =
      user.name === owner
        ? `revoked every token and session of '${owner}'; the cluster's state folder has a new token`
        : `user '${user.name}' can no longer use the cluster; their jobs keep running`;
    io.out(io.json ? `${JSON.stringify(user)}\n` : `${words}\n`);
    return 0;
  });
