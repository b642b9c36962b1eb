import { openText } from '../../../launcher/exec/exec.ts';

import { findSession, listSessions, type Session } from '../../../launcher/exec/sessions.ts';
import { logText } from '../../../launcher/exec/sessions-text.ts';
import type { Io, Run } from '../../command.ts';
import { type ClusterHead, ClusterLookup, withClusterHead } from '../../shared/cluster-head.ts';
import { tableText } from '../../shared/tables.ts';
import { ageWords } from '../../shared/times.ts';
import type { sessionsOptions } from './declaration.ts';

export const run: Run<typeof sessionsOptions> = (invocation, io) =>
  withClusterHead(new ClusterLookup(invocation, io), io, async (cluster) => {
    const sessions = await listSessions(cluster.head, cluster.name, { signal: io.signal });
    const id = invocation.options.log;
    if (id !== undefined) return await printLog(cluster, findSession(sessions, id), invocation.options.follow, io);
    if (io.json) for (const session of sessions) io.out(`${JSON.stringify(session)}\n`);
    else io.out(sessions.length === 0 ? 'no sessions\n' : table(sessions, io));
    return 0;
  });

/** Bytes go from the head to standard output as they are. Followed to its end, a session passes its exit code on. */
async function printLog(cluster: ClusterHead, session: Session, follow: boolean, io: Io): Promise<number> {
  const opening = { host: cluster.head, stdio: ['ignore', 'inherit', 'inherit'] as const, terminal: false };
  const text = logText(cluster.name, session.id, follow);
  return await openText({ ...opening, stdio: [...opening.stdio] }, text, io.signal);
}

function table(sessions: readonly Session[], io: Io): string {
  const now = Date.now();
  const rows = sessions.map((session) => [
    session.id,
    session.state,
    session.exitCode === undefined ? '' : String(session.exitCode),
    session.startedAt === undefined ? '' : ageWords(now - session.startedAt),
    session.kind,
    session.logPath,
    session.command.replaceAll(/\s+/g, ' '),
  ]);
  return tableText(['ID', 'STATE', 'EXIT', 'AGE', 'IN', 'LOG', 'COMMAND'], rows, io);
}
