import type { UserAnswer, UsersAnswer } from '../../../api/types.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';
import { tableText } from '../../shared/tables.ts';
import { localTime } from '../../shared/times.ts';

export const run: Run<typeof connectionOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const users: UserAnswer[] = [];
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await http.json<UsersAnswer>('GET', '/api/manta/v1/users', { query: { after } });
      users.push(...page.users);
      after = page.next;
    }
    if (io.json) for (const user of users) io.out(`${JSON.stringify(user)}\n`);
    else
      io.out(
        tableText(
          ['USER', 'RIGHTS', 'WEIGHT', 'MADE', 'REVOKED'],
          users.map((user) => [
            user.name,
            user.admin ? 'admin' : 'user',
            String(user.weight),
            localTime(user.createdAt),
            user.revokedAt === undefined ? '' : localTime(user.revokedAt),
          ]),
          io,
        ),
      );
    return 0;
  });
