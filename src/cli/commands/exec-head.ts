import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { readJson } from '../../base/json-file.ts';
import { sshHost } from '../../base/ssh/host.ts';
import { type ClusterFile, stateFolder, stateHome } from '../../head/state-folder.ts';
import { keepWay, knownWay, type Said, type Way } from '../../launcher/exec-way.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io } from '../command.ts';

/** As much of a cluster as it takes to run something on its head. */
export interface ClusterHead extends Pick<RemoteCluster, 'name' | 'head' | 'place'> {
  /** Its address as users are shown it. */
  readonly shown: string;
}

/** As `withRemote`, for commands that need the head alone: without a look at the cluster file where the way is known. */
export async function withClusterHead(
  invocation: Invocation,
  io: Io,
  use: (cluster: ClusterHead) => Promise<number>,
): Promise<number> {
  const home = stateHome(io.env);
  const said = saidIn(invocation, home, io);
  const way = said && knownWay(home, said);
  if (way !== undefined) {
    const head = sshHost(way.target);
    try {
      return await use({ name: way.name, place: way.place, shown: way.shown, head });
    } finally {
      await head.close();
    }
  }
  const { wayTo, withRemote } = await import('./exec-cluster.ts');
  return await withRemote(invocation, io, async (cluster) => {
    const found = wayTo(cluster);
    if (said && found) keepWay(home, said, found);
    const { name, head, place, headAddress } = cluster;
    return await use({ name, head, place, shown: found?.shown ?? headAddress });
  });
}

/** The way that an earlier command has kept. */
export function rememberedWay(invocation: Invocation, io: Io): Way | undefined {
  const home = stateHome(io.env);
  const said = saidIn(invocation, home, io);
  return said && knownWay(home, said);
}

/** Undefined where more than a text decides: variables, standard input, the web. A file wins over a name, as elsewhere. */
function saidIn({ cluster: word, options }: Invocation, home: string, io: Io): Said | undefined {
  if (word === undefined || word === '-' || /^https?:/i.test(word)) return undefined;
  const named = options['cluster-name'] as string | undefined;
  const path = resolve(io.cwd, word);
  const text = existsSync(path) ? textOf(path) : named === undefined ? textOfKnown(word, home) : undefined;
  if (text === undefined || text.includes('${env:')) return undefined;
  return { word: existsSync(path) ? path : word, text, ...(named !== undefined && { named }) };
}

const textOf = (path: string): string | undefined =>
  statSync(path).isFile() ? readFileSync(path, 'latin1') : undefined;

function textOfKnown(name: string, home: string): string | undefined {
  try {
    return readJson<ClusterFile>(stateFolder(home, name).files.cluster)?.config?.text;
  } catch {
    return undefined;
  }
}

/** Both ends are a terminal: a command that reads from or writes to anything else gets the bytes as they are. */
export const atTerminal = (): boolean => isatty(0) && isatty(1);

/** Ports of `-p`, which the parser has checked. */
export const portsOf = ({ options }: Invocation): readonly number[] =>
  ((options['port-forward'] as readonly string[] | undefined) ?? []).map(Number);
