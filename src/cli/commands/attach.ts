import { multiplexerText, sessionText } from '../../launcher/attach.ts';
import { exec, openText } from '../../launcher/exec.ts';
import { execEvents } from '../../launcher/exec-events.ts';
import { findNode, headNode, hostOfNode } from '../../launcher/node-shell.ts';
import { portForwards } from '../../launcher/port-forward.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import { findSession, listSessions } from '../../launcher/sessions.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { withRemote } from './exec-cluster.ts';
import { atTerminal, portsOf } from './exec-head.ts';
import { startedIfAbsent } from './exec-start-stop.ts';
import { nodesOf } from './node-list.ts';

export const run: Run = async (invocation, io) => {
  const address = invocation.options['node-ip'] as string | undefined;
  if (address !== undefined && invocation.options['start'] === true)
    io.events.emit(execEvents.startIgnored, { address });
  const attach = (): Promise<number> => withRemote(invocation, io, (cluster) => attachTo(cluster, invocation, io));
  return address === undefined ? await startedIfAbsent(invocation, io, attach) : await attach();
};

async function attachTo(cluster: RemoteCluster, invocation: Invocation, io: Io): Promise<number> {
  const { options } = invocation;
  const forwards = await portForwards(portsOf(invocation));
  const word = options['node-ip'] as string | undefined;
  const node = word === undefined ? headNode(cluster) : await findNode(cluster, word, () => nodesOf(cluster, io));
  const host = await hostOfNode(cluster, node, io.signal);
  const opening = {
    host,
    stdio: 'inherit' as const,
    terminal: atTerminal(),
    ...(forwards.length > 0 && { forwards }),
  };
  const id = options['session'] as string | undefined;
  if (id !== undefined) {
    const session = findSession(await listSessions(host, cluster.name, { signal: io.signal }), id);
    return await openText(opening, sessionText(session), io.signal);
  }
  const kind = (['tmux', 'screen'] as const).find((each) => options[each] === true);
  if (kind !== undefined)
    return await openText(opening, multiplexerText(cluster.name, node.place, kind, options['new'] === true), io.signal);
  return await exec({ ...opening, cluster: cluster.name, place: node.place }, io.signal);
}
