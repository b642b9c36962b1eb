import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { sshHost } from '../../base/ssh/host.ts';
import type { MeantCluster } from '../../client/target.ts';
import { type HeadRoute, keepRoute, knownRoute, type RouteKey } from '../../launcher/reach/known-route.ts';
import type { RemoteCluster } from '../../launcher/reach/remote-cluster.ts';
import { peekCluster } from '../../state/cluster-record.ts';
import { stateFolder, stateHome } from '../../state/state-folder.ts';
import type { Io } from '../command.ts';
import { type ClusterSelector, findCluster, openIfFile } from './find-cluster.ts';
import { isWebAddress, type OpenedFile } from './open-file.ts';

/** As much of a cluster as it takes to run something on its head. */
export interface ClusterHead extends Pick<RemoteCluster, 'name' | 'head' | 'place'> {
  /** Its address as users are shown it. */
  readonly shown: string;
}

/** The cluster that a command means. Its file is opened once; it is read and checked only where the route is not known. */
export class ClusterLookup {
  readonly #said: ClusterSelector;
  readonly #io: Io;
  readonly #home: string;
  #opened: Promise<OpenedFile | undefined> | undefined;
  #found: Promise<MeantCluster> | undefined;

  constructor(said: ClusterSelector, io: Io) {
    this.#said = said;
    this.#io = io;
    this.#home = stateHome(io.env);
  }

  find(): Promise<MeantCluster> {
    this.#found ??= this.#open().then((opened) => findCluster({ ...this.#said, ...(opened && { opened }) }, this.#io));
    return this.#found;
  }

  /** The route that an earlier command has kept. */
  async knownRoute(): Promise<HeadRoute | undefined> {
    const said = await this.#inWords();
    return said && knownRoute(this.#home, said);
  }

  async keepRoute(route: HeadRoute): Promise<void> {
    const said = await this.#inWords();
    if (said !== undefined) keepRoute(this.#home, said, route);
  }

  async #open(): Promise<OpenedFile | undefined> {
    const { cluster: word } = this.#said;
    if (word !== undefined) this.#opened ??= openIfFile(word, this.#io);
    return await this.#opened;
  }

  /** Undefined where more than a text decides: variables, standard input, the web. */
  async #inWords(): Promise<RouteKey | undefined> {
    const { cluster: word, options } = this.#said;
    if (word === undefined || word === '-' || isWebAddress(word)) return undefined;
    const { clusterName: named } = options;
    const opened = await this.#open();
    const text = opened === undefined ? this.#textOf(word, named) : textIn(opened);
    if (text === undefined || text.includes('${env:')) return undefined;
    return {
      word: opened === undefined ? word : resolve(this.#io.cwd, word),
      text,
      ...(named !== undefined && { named }),
    };
  }

  #textOf(name: string, named: string | undefined): string | undefined {
    if (named !== undefined) return undefined;
    try {
      return peekCluster(stateFolder(this.#home, name))?.config?.text;
    } catch {
      // No cluster can have this name.
      return undefined;
    }
  }
}

const textIn = ({ bytes, failed }: OpenedFile): string | undefined =>
  failed === undefined ? Buffer.from(bytes).toString('latin1') : undefined;

/** As `withRemote`, for commands that need the head alone: without a look at the cluster file where the route is known. */
export async function withClusterHead(
  lookup: ClusterLookup,
  io: Io,
  use: (cluster: ClusterHead) => Promise<number>,
): Promise<number> {
  const route = await lookup.knownRoute();
  if (route !== undefined) {
    const head = sshHost(route.target);
    try {
      return await use({ name: route.name, place: route.place, shown: route.shown, head });
    } finally {
      await head.close();
    }
  }
  const { routeTo, withRemote } = await import('./remote-cluster.ts');
  return await withRemote(await lookup.find(), io, async (cluster) => {
    const found = routeTo(cluster);
    if (found !== undefined) await lookup.keepRoute(found);
    const { name, head, place, headAddress } = cluster;
    return await use({ name, head, place, shown: found?.shown ?? headAddress });
  });
}

/** Both ends are a terminal: a command that reads from or writes to anything else gets the bytes as they are. */
export const atTerminal = (): boolean => isatty(0) && isatty(1);
