import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { clusterNames, stateHome } from '../../head/state-folder.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import type { Invocation, Io } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { isWebAddress } from './config-file.ts';
import { type GivenFile, readNamed } from './given-file.ts';

/** The cluster that a command line means. */
export interface MeantCluster {
  /** By `-n`, by the file, or as it was typed. Absent: nothing was said. */
  readonly name?: string;
  /** Absent: a cluster that is known by its name. */
  readonly file?: GivenFile;
}

/**
 * What CLUSTER and `-n` stand for. A file that exists wins over a cluster of the same name, as Ray knows files only; a
 * word that is neither is refused.
 */
export async function whichCluster({ cluster: word, options }: Invocation, io: Io): Promise<MeantCluster> {
  const named = options['cluster-name'] as string | undefined;
  if (word === undefined) return named === undefined ? {} : { name: named };
  if (isOpenable(word, io)) return await fromFile(word, named, io);
  if (clusterNames(stateHome(io.env)).includes(word)) {
    if (named !== undefined && named !== word) throw cliErrors.TwoClusters({ word, name: named });
    return { name: word };
  }
  // What looks like a path is read for the sake of its error: it says which file is not there.
  if (/\/|\.ya?ml$/i.test(word)) return await fromFile(word, named, io);
  throw launcherErrors.UnknownCluster({ name: word });
}

const isOpenable = (word: string, io: Io): boolean =>
  word === '-' || isWebAddress(word) || existsSync(resolve(io.cwd, word));

async function fromFile(word: string, named: string | undefined, io: Io): Promise<MeantCluster> {
  const { name, file } = await readNamed(word, io);
  return { name: named ?? name, file };
}
