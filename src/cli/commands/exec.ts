import type { Forward } from '../../base/host.ts';
import { exec } from '../../launcher/exec.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { quoted } from '../quote.ts';
import { atTerminal, type ClusterHead, portsOf, withClusterHead } from './exec-head.ts';
import { startedIfAbsent, stoppedAfter } from './exec-start-stop.ts';

export const run: Run = async (invocation, io) => {
  const [, ...words] = invocation.args;
  const command = words.length === 1 ? words[0]! : words.map(quoted).join(' ');
  return await startedIfAbsent(invocation, io, () =>
    withClusterHead(invocation, io, (cluster) => runCommand(cluster, command, invocation, io)),
  );
};

/** Runs shell text on the head as the options say: here, or in a tmux or screen that outlasts this command. */
export async function runCommand(
  cluster: ClusterHead,
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
  const forwards = await forwardsOf(invocation);
  const terminal = atTerminal();
  const request = { cluster: cluster.name, host: cluster.head, place, command, stdio: 'inherit' as const, terminal };
  return await stoppedAfter(invocation, io, () =>
    exec({ ...request, ...(forwards.length > 0 && { forwards }) }, io.signal),
  );
}

async function forwardsOf(invocation: Invocation): Promise<readonly Forward[]> {
  const ports = portsOf(invocation);
  return ports.length === 0 ? [] : await (await import('../../launcher/port-forward.ts')).portForwards(ports);
}

/** As with Ray, a command that begins with the engine's own name is for the host. */
function placeOf({ place }: ClusterHead, command: string, where: unknown): ClusterHead['place'] {
  if (place.kind === 'host' || where === 'host') return { kind: 'host' };
  return where !== 'docker' && command.startsWith(place.engine) ? { kind: 'host' } : place;
}
