import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { type MantaError, messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { makeFolder } from '../../base/files/json-file.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { type CloudClient, type CloudProvider, openCloud, usualUser } from '../../providers/clouds.ts';
import type { CommandEnvironment } from '../../providers/descriptor.ts';
import { type ClusterRecord, readLaptopRecord } from '../../state/cluster-record.ts';
import { type GivenFile, specOf } from '../../state/load-spec.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';

const run = promisify(execFile);

/** A cluster of a cloud, and a command of this machine that is about it. */
export interface CloudRequest {
  readonly folder: StateFolder;
  readonly file: GivenFile;
  readonly overrides?: NonNullable<ClusterRecord['overrides']>;
  readonly env: CommandEnvironment;
  readonly clock: Clock;
  readonly events: EventSink;
}

export const specFor = ({
  folder,
  file,
  overrides,
}: Pick<CloudRequest, 'folder' | 'file' | 'overrides'>): ClusterSpec => ({
  ...specOf(file, overrides),
  name: folder.name,
});

/** As a command asks the cloud. `keys`: whether a key of the cluster's own is made where it needs one and has none. */
export async function clientFor(
  request: Pick<CloudRequest, 'folder' | 'file' | 'overrides' | 'env'>,
  clusterId: string,
  keys: 'make' | 'look',
): Promise<CloudClient> {
  const { folder, env } = request;
  const spec = specFor(request);
  const publicKey = await ownPublicKey(folder, spec, keys);
  return {
    cluster: folder.name,
    clusterId,
    spec: () => spec,
    login: () => ({ user: spec.auth.user ?? usualUser, publicKey }),
    identity: () => ({ kind: 'user', env }),
    prepared: () => readLaptopRecord(folder)?.remote.prepared,
  };
}

export async function openCloudOf(
  request: CloudRequest,
  clusterId: string,
  keys: 'make' | 'look' = 'look',
): Promise<CloudProvider> {
  return await openCloud(await clientFor(request, clusterId, keys));
}

/** Where the file names a key for the head that is not here: nobody could log in. A cluster's own key is made later. */
export function namedKeyProblem({ auth }: ClusterSpec): MantaError | undefined {
  if (auth.privateKey === undefined || [publicKeyFile, keyFile].some((path) => existsSync(path(auth))))
    return undefined;
  return launcherErrors.NoLoginKey({ at: ['auth', 'ssh_private_key'], key: auth.privateKey });
}

/**
 * The public half of the key that this machine logs in to the head with. Empty: there is none yet, and none is made. A key that
 * the file names is never made: somebody has it elsewhere.
 */
async function ownPublicKey(folder: StateFolder, spec: ClusterSpec, keys: 'make' | 'look'): Promise<string> {
  const auth = { ...spec.auth, privateKey: spec.auth.privateKey ?? folder.files.key };
  const [key, given] = [keyFile(auth), publicKeyFile(auth)];
  if (existsSync(given)) return readFileSync(given, 'utf8').trim();
  if (!existsSync(key)) {
    if (keys === 'look') return '';
    const problem = namedKeyProblem(spec);
    if (problem !== undefined) throw problem;
    makeFolder(folder.path);
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `manta ${folder.name}`, '-f', key]);
  }
  return await publicHalf(key);
}

/** Of a key that has no file for it. Nobody is asked for a passphrase. */
async function publicHalf(key: string): Promise<string> {
  try {
    return (await run('ssh-keygen', ['-y', '-P', '', '-f', key])).stdout.trim();
  } catch (error) {
    const { stderr = messageOf(error) } = error as { readonly stderr?: string };
    throw launcherErrors.LoginKeyClosed({ at: ['auth', 'ssh_private_key'], key, detail: stderr.trim() }, error);
  }
}

type Auth = Pick<ClusterSpec['auth'], 'privateKey' | 'publicKey'>;

const inHome = (path: string): string => path.replace(/^~(?=\/)/, homedir());
const keyFile = ({ privateKey = '' }: Auth): string => inHome(privateKey);
const publicKeyFile = (auth: Auth): string => inHome(auth.publicKey ?? `${auth.privateKey}.pub`);
