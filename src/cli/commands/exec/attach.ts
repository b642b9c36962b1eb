import { launcherEvents } from '../../../launcher/events.ts';
import { multiplexerText, sessionText } from '../../../launcher/exec/attach.ts';
import { exec, openText } from '../../../launcher/exec/exec.ts';
import { findSession, listSessions } from '../../../launcher/exec/sessions.ts';
import { findNode, headNode, hostOfNode } from '../../../launcher/nodes/find-node.ts';
import { portForwards } from '../../../launcher/reach/port-forward.ts';
import type { RemoteCluster } from '../../../launcher/reach/remote-cluster.ts';
import type { Io, Run } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { atTerminal } from '../../shared/cluster-head.ts';
import { findCluster, kubeMeant } from '../../shared/find-cluster.ts';
import { nodesOf } from '../../shared/node-list.ts';
import { withRemote } from '../../shared/remote-cluster.ts';
import type { attachOptions } from './declaration.ts';
import { startedIfAbsent } from './start-stop.ts';

export const run: Run<typeof attachOptions> = async (invocation, io) => {
  const { options } = invocation;
  const { nodeIp: address } = options;
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) return await (await import('./kube.ts')).attachOnKube(onKube, options, io);
  if (address !== undefined && options.start) io.events.emit(launcherEvents.execStartIgnored, { address });
  const meant = await findCluster(invocation, io);
  const attach = (): Promise<number> => withRemote(meant, io, (cluster) => attachTo(cluster, options, io));
  return address === undefined
    ? await startedIfAbsent(options, () => Promise.resolve(meant), io, attach)
    : await attach();
};

async function attachTo(cluster: RemoteCluster, options: OptionValues<typeof attachOptions>, io: Io): Promise<number> {
  const { nodeIp: word, session: id } = options;
  const forwards = await portForwards(options.portForward ?? []);
  const node = word === undefined ? headNode(cluster) : await findNode(cluster, word, () => nodesOf(cluster, io));
  const host = await hostOfNode(cluster, node, io.signal);
  const opening = {
    host,
    stdio: 'inherit' as const,
    terminal: atTerminal(),
    ...(forwards.length > 0 && { forwards }),
  };
  if (id !== undefined) {
    const session = findSession(await listSessions(host, cluster.name, { signal: io.signal }), id);
    return await openText(opening, sessionText(session), io.signal);
  }
  const kind = (['tmux', 'screen'] as const).find((each) => options[each]);
  if (kind !== undefined)
    return await openText(opening, multiplexerText(cluster.name, node.place, kind, options.new), io.signal);
  return await exec({ ...opening, cluster: cluster.name, place: node.place }, io.signal);
}
