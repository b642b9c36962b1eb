import { exec } from '../../launcher/exec.ts';
import { portForwards } from '../../launcher/port-forward.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { quoted } from '../quote.ts';
import { atTerminal, portsOf, withRemote } from './exec-cluster.ts';
import { startedIfAbsent, stoppedAfter } from './exec-start-stop.ts';

export const run: Run = async (invocation, io) => {
  const [, ...words] = invocation.args;
  const command = words.length === 1 ? words[0]! : words.map(quoted).join(' ');
  return await startedIfAbsent(invocation, io, () =>
    withRemote(invocation, io, (cluster) => runCommand(cluster, command, invocation, io)),
  );
};

/** Runs shell text on the head as the options say: here, or in a tmux or screen that outlasts this command. */
export async function runCommand(
  cluster: RemoteCluster,
  command: string,
  invocation: Invocation,
  io: Io,
): Promise<number> {
  const { options } = invocation;
  const place = placeOf(cluster, command, options['run-env']);
  const kind = (['tmux', 'screen'] as const).find((each) => options[each] === true);
  if (kind !== undefined) {
    const { startInSession } = await import('./sessions-start.ts');
    return await startInSession({ cluster, command, place, kind }, invocation, io);
  }
  const forwards = await portForwards(portsOf(invocation));
  const terminal = atTerminal();
  const request = { cluster: cluster.name, host: cluster.head, place, command, stdio: 'inherit' as const, terminal };
  return await stoppedAfter(invocation, io, () =>
    exec({ ...request, ...(forwards.length > 0 && { forwards }) }, io.signal),
  );
}

/** As with Ray, a command that begins with the engine's own name is for the host. */
function placeOf({ place }: RemoteCluster, command: string, where: unknown): RemoteCluster['place'] {
  if (place.kind === 'host' || where === 'host') return { kind: 'host' };
  return where !== 'docker' && command.startsWith(place.engine) ? { kind: 'host' } : place;
}
