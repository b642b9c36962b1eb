import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { clientErrors } from '../../client/errors.ts';
import { clientEvents } from '../../client/events.ts';
import type { GivenAddress, MeantCluster } from '../../client/target.ts';
import { specErrors } from '../../core/spec/errors.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { peekCluster } from '../../state/cluster-record.ts';
import { servingOf, supervisorOf } from '../../state/serving.ts';
import { clusterNames, stateFolder, stateHome } from '../../state/state-folder.ts';
import type { Io } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { isWebAddress, type OpenedFile, openFile } from './open-file.ts';

/** What a command line says of the cluster that it means. */
export interface ClusterSelector {
  /** CLUSTER: a file, a URL, `-`, or a name. */
  readonly cluster?: string;
  readonly options: {
    /** `-n` */
    readonly clusterName?: string;
    readonly address?: string;
    readonly context?: string;
    readonly namespace?: string;
    readonly pending?: boolean;
  };
  /** The file, where CLUSTER is one that was opened before. */
  readonly opened?: OpenedFile;
}

/** `kube:[NAMESPACE/]NAME`: a cluster of KubeRay. */
export const isKubeName = (word: string | undefined): word is string => word?.startsWith('kube:') === true;

/**
 * The cluster on Kubernetes that a command means: CLUSTER, `-n` or MANTA_CLUSTER. Commands that know such clusters ask this
 * first; for all others `findCluster` says that they do not.
 */
export function kubeMeant(
  said: ClusterSelector,
  io: Io,
): { readonly word: string; readonly options: ClusterSelector['options'] } | undefined {
  const { clusterName, context, namespace, pending } = said.options;
  const word =
    said.cluster ?? clusterName ?? (said.options.address === undefined ? io.env['MANTA_CLUSTER'] : undefined);
  if (isKubeName(word)) return { word, options: said.options };
  if (context !== undefined || namespace !== undefined || pending === true)
    throw cliErrors.OnlyOnKube({
      option: context !== undefined ? '--context' : namespace !== undefined ? '--namespace' : '--pending',
    });
  return undefined;
}

/** The cluster where nothing says which one; given the folder that clusters are kept in. */
type Unnamed = (home: string) => string;

/**
 * The cluster that a command means: CLUSTER, where `-n` gives the cluster of a file another name; `-n` alone; an address,
 * for commands that take one; MANTA_CLUSTER; the only one there is. With several it is an error that names them.
 */
export async function findCluster(
  said: ClusterSelector,
  io: Io,
  unnamed: Unnamed = onlyRunning,
): Promise<MeantCluster> {
  return (await named(said, io)) ?? ofMachine(unnamed, io);
}

/** As `findCluster`, by an address too: by Ray's rule, under which the environment wins over the option. */
export async function findHead(said: ClusterSelector, io: Io): Promise<MeantCluster | GivenAddress> {
  const { address } = said.options;
  const meant = await named(said, io);
  if (meant !== undefined && address !== undefined) throw clientErrors.TwoClusters({ name: meant.name, address });
  if (meant !== undefined) return meant;
  const given = addressOf(address, io);
  return given === undefined ? ofMachine(onlyRunning, io) : (clusterAt(given, io) ?? given);
}

async function named(said: ClusterSelector, io: Io): Promise<MeantCluster | undefined> {
  const { clusterName: name } = said.options;
  const word = said.cluster;
  if (isKubeName(name)) throw cliErrors.NotOnKube({ word: name });
  if (word === undefined) return name === undefined ? undefined : { name };
  const opened = said.opened ?? (await openIfFile(word, io));
  if (opened !== undefined) {
    // What understands cluster files loads only where there is one.
    const file = (await import('./given-file.ts')).readGiven(opened, io);
    return { name: name ?? file.spec.name, file };
  }
  if (name !== undefined && name !== word) throw cliErrors.TwoClusters({ word, name });
  return { name: word };
}

/**
 * The file that CLUSTER stands for; undefined for a cluster that is known by that name. A file wins over a cluster of its
 * name, as Ray knows files only; a folder does not, as no cluster can be read from it.
 */
export async function openIfFile(word: string, io: Io): Promise<OpenedFile | undefined> {
  if (isKubeName(word)) throw cliErrors.NotOnKube({ word });
  if (word === '-' || isWebAddress(word)) return await openFile(word, io);
  const there = statIfThere(resolve(io.cwd, word));
  if (there?.isDirectory() === false) return await openFile(word, io);
  if (clusterNames(stateHome(io.env)).includes(word)) return undefined;
  if (there !== undefined) throw specErrors.Directory({ file: word });
  // What looks like a path is opened for the sake of its error: it says which file is not there.
  if (/\/|\.ya?ml$/i.test(word)) return await openFile(word, io);
  throw launcherErrors.UnknownCluster({ name: word });
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function addressOf(flag: string | undefined, { env, events }: Io): GivenAddress | undefined {
  const variable = ['RAY_API_SERVER_ADDRESS', 'RAY_ADDRESS'].find((name) => isAddress(env[name]));
  if (variable === undefined) return isAddress(flag) ? { address: flag, from: '--address' } : undefined;
  const address = env[variable]!;
  if (flag !== undefined && flag !== address) events.emit(clientEvents.overridden, { variable, address, flag });
  return { address, from: variable };
}

/**
 * The cluster whose head has the address, unless that is a URL: `HOST:6379` is Ray's own port on it, from which Ray's clients
 * learn where its HTTP API is.
 */
function clusterAt({ address }: GivenAddress, { env }: Io): MeantCluster | undefined {
  if (address.includes('://')) return undefined;
  const host = address.replace(/:\d+$/, '');
  const home = stateHome(env);
  const name = clusterNames(home).find((each) => {
    const record = peekCluster(stateFolder(home, each));
    return record?.role === 'laptop' && [record.remote.address, record.remote.inside].includes(host);
  });
  return name === undefined ? undefined : { name };
}

/** `auto` and `local` are Ray's words for what is found on this machine. */
const isAddress = (text: string | undefined): text is string =>
  text !== undefined && !['', 'auto', 'local'].includes(text);

function ofMachine(unnamed: Unnamed, { env }: Io): MeantCluster {
  const name = env['MANTA_CLUSTER'] || unnamed(stateHome(env));
  if (isKubeName(name)) throw cliErrors.NotOnKube({ word: name });
  return { name };
}

/** The only cluster that runs, or else the only one that is known: what is left of one that is down is what a dump is for. */
function onlyRunning(home: string): string {
  const known = clusterNames(home);
  const running = known.filter((name) => runs(home, name));
  return only(running.length === 0 ? known : running) ?? noCluster(home);
}

function runs(home: string, name: string): boolean {
  const folder = stateFolder(home, name);
  return (
    servingOf(folder) !== undefined || supervisorOf(folder) !== undefined || peekCluster(folder)?.role === 'laptop'
  );
}

function noCluster(home: string): never {
  throw clientErrors.NoCluster({ home: join(home, 'clusters').replace(homedir(), '~') });
}

/** The only cluster that is known, running or not; undefined where there is none. */
export const onlyKnown = (home: string): string | undefined => only(clusterNames(home));

function only(names: readonly string[]): string | undefined {
  if (names.length > 1) throw clientErrors.SeveralClusters({ names });
  return names[0];
}
