import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { readJson } from '../../base/json-file.ts';
import { sshHost } from '../../base/ssh/host.ts';
import type { MeantCluster } from '../../head/client/target.ts';
import { type ClusterFile, stateFolder, stateHome } from '../../head/state-folder.ts';
import { keepWay, knownWay, type Said as SaidBefore, type Way } from '../../launcher/exec-way.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Io } from '../command.ts';
import { findCluster, openIfFile, type Said } from './find-cluster.ts';
import { isWebAddress, type OpenedFile } from './open-file.ts';

/** As much of a cluster as it takes to run something on its head. */
export interface ClusterHead extends Pick<RemoteCluster, 'name' | 'head' | 'place'> {
  /** Its address as users are shown it. */
  readonly shown: string;
}

/** The cluster that a command means. Its file is opened once; it is read and checked only where the way is not known. */
export class SoughtCluster {
  readonly #said: Said;
  readonly #io: Io;
  readonly #home: string;
  #opened: Promise<OpenedFile | undefined> | undefined;
  #found: Promise<MeantCluster> | undefined;

  constructor(said: Said, io: Io) {
    this.#said = said;
    this.#io = io;
    this.#home = stateHome(io.env);
  }

  find(): Promise<MeantCluster> {
    this.#found ??= this.#open().then((opened) => findCluster({ ...this.#said, ...(opened && { opened }) }, this.#io));
    return this.#found;
  }

  /** The way that an earlier command has kept. */
  async knownWay(): Promise<Way | undefined> {
    const said = await this.#inWords();
    return said && knownWay(this.#home, said);
  }

  async keepWay(way: Way): Promise<void> {
    const said = await this.#inWords();
    if (said !== undefined) keepWay(this.#home, said, way);
  }

  async #open(): Promise<OpenedFile | undefined> {
    const { cluster: word } = this.#said;
    if (word !== undefined) this.#opened ??= openIfFile(word, this.#io);
    return await this.#opened;
  }

  /** Undefined where more than a text decides: variables, standard input, the web. */
  async #inWords(): Promise<SaidBefore | undefined> {
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
      return readJson<ClusterFile>(stateFolder(this.#home, name).files.cluster)?.config?.text;
    } catch {
      return undefined;
    }
  }
}

const textIn = ({ bytes, failed }: OpenedFile): string | undefined =>
  failed === undefined ? Buffer.from(bytes).toString('latin1') : undefined;

/** As `withRemote`, for commands that need the head alone: without a look at the cluster file where the way is known. */
export async function withClusterHead(
  sought: SoughtCluster,
  io: Io,
  use: (cluster: ClusterHead) => Promise<number>,
): Promise<number> {
  const way = await sought.knownWay();
  if (way !== undefined) {
    const head = sshHost(way.target);
    try {
      return await use({ name: way.name, place: way.place, shown: way.shown, head });
    } finally {
      await head.close();
    }
  }
  const { wayTo, withRemote } = await import('./exec-cluster.ts');
  return await withRemote(await sought.find(), io, async (cluster) => {
    const found = wayTo(cluster);
    if (found !== undefined) await sought.keepWay(found);
    const { name, head, place, headAddress } = cluster;
    return await use({ name, head, place, shown: found?.shown ?? headAddress });
  });
}

/** Both ends are a terminal: a command that reads from or writes to anything else gets the bytes as they are. */
export const atTerminal = (): boolean => isatty(0) && isatty(1);
