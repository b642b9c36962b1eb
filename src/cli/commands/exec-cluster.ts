import { isatty } from 'node:tty';
import { clientErrors } from '../../head/client/errors.ts';
import { clusterNames, stateHome } from '../../head/state-folder.ts';
import { execErrors } from '../../launcher/exec-errors.ts';
import { isRemote, openRemote, type RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io } from '../command.ts';
import { whichCluster } from './which-cluster.ts';

/** Runs `use` with the cluster of other machines that is meant, and closes what was opened of it. */
export async function withRemote<Value>(
  invocation: Invocation,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  const meant = await whichCluster(invocation, io);
  const home = stateHome(io.env);
  const name = meant.name ?? onlyName(home, io);
  const cluster = openRemote({ home, name, ...(meant.file && { file: meant.file }) });
  try {
    if (!isRemote(cluster.spec)) throw execErrors.NotOverSsh({ name });
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

function onlyName(home: string, io: Io): string {
  const named = io.env['MANTA_CLUSTER'];
  if (named) return named;
  const names = clusterNames(home);
  const [first, second] = names;
  if (first === undefined) throw clientErrors.NoCluster({ home });
  if (second !== undefined) throw clientErrors.SeveralClusters({ names });
  return first;
}

/** Both ends are a terminal: a command that reads from or writes to anything else gets the bytes as they are. */
export const atTerminal = (): boolean => isatty(0) && isatty(1);

/** Ports of `-p`, which the parser has checked. */
export const portsOf = ({ options }: Invocation): readonly number[] =>
  ((options['port-forward'] as readonly string[] | undefined) ?? []).map(Number);
