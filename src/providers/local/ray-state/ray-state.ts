import type { Host, RunOptions } from '../../../base/host.ts';
import { readShell, shellProgram } from '../../../base/shell/shell-file.ts';
import { type RayStatus, rayNodeName, rayTags } from '../../../core/ray-tags.ts';
import type { Plain } from '../../../core/spec/cluster.ts';
import { localTypeName } from '../../../core/spec/local.ts';
import { pythonJson } from '../../../core/spec/ray/json.ts';
import type { RuntimeHashes } from '../../ray-hashes.ts';
import { localErrors } from '../errors.ts';
import { flockPrelude } from '../flock-prelude.ts';

const stateFile = readShell(new URL('./ray-state-prelude.sh', import.meta.url));
const look = readShell(new URL('./ray-state-read.sh', import.meta.url));
const write = readShell(new URL('./ray-state-write.sh', import.meta.url));

/**
 * Ray's own file of a cluster of own machines, `cluster-<name>.state` in its folder for temporary files: one on the
 * machine that launched, one on the head. Ray's commands find the nodes there.
 */
export type RayState = ReadonlyMap<string, RayStateNode>;

/** One host, by its name in the cluster file. */
export interface RayStateNode {
  readonly tags: Readonly<Record<string, string>>;
  /** `terminated` is any host that is not in use. */
  readonly state: 'running' | 'terminated';
  readonly external_ip?: string;
  readonly teardown_complete?: boolean;
}

/** A node as Manta knows it, for the file. */
export interface RayStateEntry {
  readonly status: RayStatus;
  readonly launchHash?: string;
  readonly hashes?: RuntimeHashes;
}

export interface RayStateCluster {
  readonly cluster: string;
  readonly headHost: string;
  /** Of `worker_ips` alone: Ray knows no others, and drops what its file has beside them. */
  readonly workerHosts: readonly string[];
  readonly outside?: string;
}

/** The file of a cluster: the hosts in `nodes` are in use, the others are not. What Ray noted of them before is kept. */
export function rayStateOf(
  { cluster, headHost, workerHosts, outside }: RayStateCluster,
  nodes: ReadonlyMap<string, RayStateEntry>,
  before: RayState = new Map(),
): RayState {
  // Ray begins again when the head of the file is another host.
  const known: RayState = before.get(headHost)?.tags[rayTags.kind] === 'head' ? before : new Map();
  const node = (host: string, kind: 'head' | 'worker'): [string, RayStateNode] => {
    const entry = nodes.get(host);
    const earlier = known.get(host)?.tags ?? {};
    return [
      host,
      {
        tags: { ...earlier, [rayTags.kind]: kind, ...(entry && tagsOf(cluster, kind, entry)) },
        state: entry ? 'running' : 'terminated',
        ...(kind === 'head' && outside !== undefined && { external_ip: outside }),
        ...(!entry && known.get(host)?.teardown_complete && { teardown_complete: true }),
      },
    ];
  };
  const workers = workerHosts.filter((host) => host !== headHost);
  return new Map([...workers.map((host) => node(host, 'worker')), node(headHost, 'head')]);
}

const tagsOf = (cluster: string, kind: 'head' | 'worker', entry: RayStateEntry): Record<string, string> => ({
  [rayTags.type]: localTypeName,
  [rayTags.name]: rayNodeName(cluster, kind),
  [rayTags.status]: entry.status,
  ...(entry.launchHash !== undefined && { [rayTags.launchHash]: entry.launchHash }),
  ...(entry.hashes && { [rayTags.runtimeHash]: entry.hashes.runtime, [rayTags.contentsHash]: entry.hashes.contents }),
});

/** What Ray's file says of the head; undefined when no head runs by it. */
export function rayHead(
  state: RayState,
):
  | { readonly host: string; readonly status?: string; readonly launchHash?: string; readonly runtimeHash?: string }
  | undefined {
  for (const [host, { tags, state: running }] of state) {
    if (tags[rayTags.kind] !== 'head' || running !== 'running') continue;
    const { [rayTags.status]: status, [rayTags.launchHash]: launchHash, [rayTags.runtimeHash]: runtimeHash } = tags;
    return {
      host,
      ...(status !== undefined && { status }),
      ...(launchHash !== undefined && { launchHash }),
      ...(runtimeHash !== undefined && { runtimeHash }),
    };
  }
  return undefined;
}

/** Undefined where there is no such file, or what is there is none of Ray's. */
export async function readRayState(host: Host, cluster: string, options: RunOptions): Promise<RayState | undefined> {
  return (await read(host, cluster, options)).state;
}

/**
 * Changes the file, under the lock that Ray takes. `change` may be called several times, each time with what is there
 * now; when it returns undefined the file is removed.
 */
export async function changeRayState(
  host: Host,
  cluster: string,
  change: (before: RayState | undefined) => RayState | undefined,
  options: RunOptions,
): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { sum, state } = await read(host, cluster, options);
    const after = change(state);
    const text = shellProgram(`${flockPrelude}${stateFile}${write}`, {
      cluster,
      seen: sum,
      remove: after === undefined,
      text: after && stateText(after),
    });
    const { code, stdout, stderr } = await host.sh(text, options);
    if (stdout.trim() === 'written') return;
    if (stdout.trim() !== 'changed')
      throw localErrors.RayState({ host: host.name, cluster, detail: lastLine(stderr) || `exit code ${code}` });
  }
  throw localErrors.RayState({ host: host.name, cluster, detail: 'it keeps changing' });
}

export const stateText = (state: RayState): string => pythonJson(Object.fromEntries(state) as unknown as Plain);

/** What does not look like Ray's file is none. */
export function parseRayState(text: string): RayState | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(read)) return undefined;
  const nodes = Object.entries(read).map(([host, node]): [string, RayStateNode] | undefined => {
    if (!isObject(node) || !isObject(node['tags'])) return undefined;
    const { tags, state, external_ip: outside, teardown_complete: complete } = node;
    return [
      host,
      {
        tags: Object.fromEntries(Object.entries(tags).map(([tag, value]) => [tag, String(value)])),
        state: state === 'running' ? 'running' : 'terminated',
        ...(typeof outside === 'string' && { external_ip: outside }),
        ...(complete === true && { teardown_complete: true }),
      },
    ];
  });
  return nodes.every((node) => node !== undefined) ? new Map(nodes) : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function read(
  host: Host,
  cluster: string,
  options: RunOptions,
): Promise<{ readonly sum: string; readonly state: RayState | undefined }> {
  const { stdout } = await host.sh(shellProgram(`${flockPrelude}${stateFile}${look}`, { cluster }), options);
  const end = stdout.indexOf('\n');
  return { sum: stdout.slice(0, end), state: parseRayState(stdout.slice(end + 1)) };
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
