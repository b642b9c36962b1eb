import type { Forward } from '../../../base/host.ts';
import { exec } from '../../../launcher/exec/exec.ts';
import type { Io, Run } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { quoted } from '../../quote.ts';
import { atTerminal, type ClusterHead, ClusterLookup, withClusterHead } from '../../shared/cluster-head.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import type { execOptions, submitOptions } from './declaration.ts';
import { startedIfAbsent, stoppedAfter } from './start-stop.ts';

export const run: Run<typeof execOptions> = async (invocation, io) => {
  const { options, cluster: word } = invocation;
  const [, ...words] = invocation.args;
  const command = words.length === 1 ? words[0]! : words.map(quoted).join(' ');
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) return await (await import('./kube.ts')).execOnKube(onKube, command, options, io);
  const lookup = new ClusterLookup(invocation, io);
  return await startedIfAbsent(
    options,
    () => lookup.find(),
    io,
    () =>
      withClusterHead(lookup, io, (cluster) =>
        runCommand({ cluster, lookup, command, word, where: options.runEnv }, options, io),
      ),
  );
};

/** A command line for the head of a cluster. */
interface Running {
  readonly cluster: ClusterHead;
  readonly lookup: ClusterLookup;
  readonly command: string;
  /** CLUSTER, as it was typed. */
  readonly word: string | undefined;
  readonly where: OptionValues<typeof execOptions>['runEnv'];
}

type RunOptions = OptionValues<typeof execOptions> | OptionValues<typeof submitOptions>;

/** Runs shell text on the head as the options say: here, or in a tmux or screen that outlasts this command. */
export async function runCommand(
  { cluster, lookup, command, word, where }: Running,
  options: RunOptions,
  io: Io,
): Promise<number> {
  const place = placeOf(cluster, command, where);
  const { stop } = options;
  const kind = (['tmux', 'screen'] as const).find((each) => options[each]);
  if (kind !== undefined) {
    const { startInSession } = await import('./start-session.ts');
    const screenOptions = 'extraScreenArgs' in options ? options.extraScreenArgs : undefined;
    const wanted = { cluster, command, place, kind, stop, ...(screenOptions && { screenOptions }) };
    return await startInSession(wanted, word ?? cluster.name, io);
  }
  const forwards = await forwardsOf(options.portForward ?? []);
  const terminal = atTerminal();
  const request = { cluster: cluster.name, host: cluster.head, place, command, stdio: 'inherit' as const, terminal };
  return await stoppedAfter(
    stop,
    () => lookup.find(),
    io,
    () => exec({ ...request, ...(forwards.length > 0 && { forwards }) }, io.signal),
  );
}

async function forwardsOf(ports: readonly number[]): Promise<readonly Forward[]> {
  return ports.length === 0 ? [] : await (await import('../../../launcher/reach/port-forward.ts')).portForwards(ports);
}

/** As with Ray, a command that begins with the engine's own name is for the host. */
function placeOf({ place }: ClusterHead, command: string, where: Running['where']): ClusterHead['place'] {
  if (place.kind === 'host' || where === 'host') return { kind: 'host' };
  return where !== 'docker' && command.startsWith(place.engine) ? { kind: 'host' } : place;
}
