import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';
import type { connectionOptions } from './cluster-options.ts';

export const run: Run<typeof connectionOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const name = invocation.args[0]!;
    const user = await http.json<{ name: string }>('DELETE', `/api/manta/v1/users/${encodeURIComponent(name)}`);
    const { folder } = http.target;
    // The head took the name as that of a user, so it has no slash in it.
    if (folder !== undefined) rmSync(join(folder.files.tokens, user.name), { force: true });
    io.out(
      io.json ? `${JSON.stringify(user)}\n` : `user '${user.name}' can no longer use the cluster; its jobs go on\n`,
    );
    return 0;
  });
