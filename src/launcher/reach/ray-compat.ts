import type { Host } from '../../base/host.ts';
import { thisHost } from '../../base/this-host.ts';
import { rayBootstrapFile } from '../../bringup/node/shell-text.ts';
import type { PlainMap } from '../../core/spec/cluster.ts';
import { localTypeName } from '../../core/spec/local.ts';
import { pythonJson } from '../../core/spec/ray/json.ts';
import { prepareAsRay } from '../../core/spec/ray/prepare.ts';
import {
  changeRayState,
  type RayStateCluster,
  type RayStateEntry,
  rayHead,
  rayStateOf,
  readRayState,
} from '../../providers/local/ray-state/ray-state.ts';
import { headLaunchHash, headRuntimeHashes, workerRuntimeHashes } from '../../providers/ray-hashes.ts';
import { providers } from '../../providers/table.ts';
import type { RemoteCluster } from './remote-cluster.ts';

/** The file as Ray's own launcher would have worked it out; undefined where Ray refuses it. */
function preparedOf({ file, name }: RemoteCluster): PlainMap | undefined {
  const prepared = prepareAsRay(file.source, providers);
  return 'config' in prepared ? { ...prepared.config, cluster_name: name } : undefined;
}

const stateCluster = (cluster: RemoteCluster): RayStateCluster => ({
  cluster: cluster.name,
  headHost: cluster.headAddress,
  workerHosts: cluster.pools.find((pool) => pool.type === localTypeName)?.hosts.map(({ name }) => name) ?? [],
});

/** What Ray's file on this machine says of a head that `ray up` made; undefined when it knows none. */
export async function madeByRay(
  cluster: RemoteCluster,
  signal: AbortSignal,
): Promise<{ readonly status?: string; readonly same: boolean } | undefined> {
  const state = await readRayState(thisHost(), cluster.name, { signal }).catch(() => undefined);
  const head = state && rayHead(state);
  if (head === undefined || head.host !== cluster.headAddress) return undefined;
  const prepared = preparedOf(cluster);
  const hashes = prepared === undefined ? [] : await headRuntimeHashes(prepared).catch(() => []);
  return {
    ...(head.status !== undefined && { status: head.status }),
    same: hashes.some(({ runtime }) => runtime === head.runtimeHash),
  };
}

/**
 * Leaves what Ray's own commands and users' scripts look for: the tags of each node, here and on the head, and the file
 * that `ray up` puts on the head. The key stays out of it.
 */
export async function leaveForRay(
  cluster: RemoteCluster,
  running: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const prepared = preparedOf(cluster);
  if (prepared === undefined) return;
  const [head] = await headRuntimeHashes(prepared);
  const worker = await workerRuntimeHashes(prepared);
  const launchHash = headLaunchHash(prepared);
  const nodes = new Map<string, RayStateEntry>([
    [cluster.headAddress, { status: 'up-to-date', launchHash, ...(head && { hashes: head }) }],
    ...running.map((host): [string, RayStateEntry] => [host, { status: 'up-to-date', launchHash, hashes: worker }]),
  ]);
  const write = (host: Host): Promise<void> =>
    changeRayState(host, cluster.name, (before) => rayStateOf(stateCluster(cluster), nodes, before), { signal });
  const { ssh_private_key: _, ssh_proxy_command: __, ...auth } = (prepared['auth'] ?? {}) as PlainMap;
  const bootstrap = Buffer.from(pythonJson({ ...prepared, auth }));
  await Promise.all([
    write(thisHost()),
    write(cluster.head),
    cluster.head.put(rayBootstrapFile, bootstrap, 0o600, { signal }),
  ]);
}

/** No node is in use any more, by Ray's own file too. */
export async function clearForRay(cluster: RemoteCluster, signal: AbortSignal): Promise<void> {
  await changeRayState(
    thisHost(),
    cluster.name,
    (before) => (before === undefined ? undefined : rayStateOf(stateCluster(cluster), new Map(), before)),
    { signal },
  );
}
