import { amountOf } from '../resources.ts';
import type { ClusterSpec, NodeCommands, NodeType, Plain, PlainMap } from '../spec/cluster.ts';
import { dig, isMap, type Json, type JsonMap, listAt, textAt } from './object.ts';

/** Something in a cluster file that a RayCluster has no place for, or that somebody has to look at. */
export interface WithoutCounterpart {
  /** As the file has it. */
  readonly key: string;
  readonly says: string;
}

export interface ConvertedCluster {
  readonly manifest: JsonMap;
  readonly without: readonly WithoutCounterpart[];
}

/** Names of RayClusters are DNS labels of at most this length, to which KubeRay appends. */
const longestName = 53;

/** The RayCluster that a cluster file stands for, and what of the file is lost on the way. */
export function convertToRayCluster(spec: ClusterSpec, usual: { readonly rayVersion: string }): ConvertedCluster {
  const without: WithoutCounterpart[] = [];
  const note = (key: string, says: string): void => {
    if (!without.some((each) => each.key === key)) without.push({ key, says });
  };
  const name = nameFor(spec.name);
  if (name !== spec.name) note('cluster_name', `'${spec.name}' is not a name for Kubernetes; '${name}' is used`);
  const workers = spec.nodeTypes.filter((type) => type.name !== spec.headType && type.maxWorkers > 0);
  const headType = spec.nodeTypes.find((type) => type.name === spec.headType);
  const head = groupOf(
    { commands: spec.head, launch: spec.head.launchConfig, type: headType, role: 'head' },
    usual,
    note,
  );
  const image = textAt(head, 'template', 'spec', 'containers', 0, 'image') ?? '';
  if (versionIn(image) === undefined)
    note(
      'rayVersion',
      `the image '${image}' does not say which Ray it has; correct ${usual.rayVersion} where that is wrong`,
    );
  const scales = workers.some(({ minWorkers, maxWorkers }) => maxWorkers > minWorkers);
  noteLost(spec, note);
  return {
    manifest: {
      apiVersion: 'ray.io/v1',
      kind: 'RayCluster',
      metadata: { name },
      spec: {
        rayVersion: versionIn(image) ?? usual.rayVersion,
        ...(scales && { enableInTreeAutoscaling: true, autoscalerOptions: scalingOf(spec) }),
        headGroupSpec: head,
        workerGroupSpecs: workers.map((type) => workerGroup(type, usual, note)),
      },
    },
    without,
  };
}

const nameFor = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, longestName)
    .replace(/-$/, '') || 'ray';

/** `rayproject/ray:2.46.0-py311` names its version. */
const versionIn = (image: string): string | undefined => /:(\d+\.\d+\.\d+)(?:[.-]|$)/.exec(image)?.[1];

function scalingOf({ idleTimeout, upscalingSpeed }: ClusterSpec): JsonMap {
  return {
    ...(idleTimeout !== undefined && { idleTimeoutSeconds: Math.round(idleTimeout / 1_000) }),
    upscalingMode: upscalingSpeed > 1 ? 'Aggressive' : 'Default',
  };
}

type Note = (key: string, says: string) => void;

interface Group {
  readonly commands: NodeCommands;
  readonly launch: PlainMap;
  readonly type: NodeType | undefined;
  readonly role: 'head' | 'worker';
}

function workerGroup(type: NodeType, usual: { readonly rayVersion: string }, note: Note): JsonMap {
  const { minWorkers, maxWorkers, initialWorkers, hostsPerSlice, launchConfig: launch } = type;
  return {
    groupName: nameFor(type.name),
    replicas: Math.max(minWorkers, initialWorkers) / hostsPerSlice,
    minReplicas: minWorkers / hostsPerSlice,
    maxReplicas: maxWorkers / hostsPerSlice,
    ...(hostsPerSlice > 1 && { numOfHosts: hostsPerSlice }),
    ...groupOf({ commands: type.worker, launch, type, role: 'worker' }, usual, note),
  };
}

function groupOf({ commands, launch, type, role }: Group, usual: { readonly rayVersion: string }, note: Note): JsonMap {
  const pod = podIn(launch);
  const given = dig(pod, 'spec', 'containers', 0);
  const image = textAt(given, 'image') ?? commands.container?.image;
  if (image === undefined) note('docker.image', `the file names no image: rayproject/ray:${usual.rayVersion} is used`);
  const container: JsonMap = {
    ...(isMap(given) ? withoutKeys(given, ['command', 'args']) : {}),
    name: role === 'head' ? 'ray-head' : 'ray-worker',
    image: image ?? `rayproject/ray:${usual.rayVersion}`,
    ...resourcesOf(given, type),
  };
  if (role === 'head') Object.assign(container, { ports: portsOf(given) });
  const more = listAt(pod, 'spec', 'containers').slice(1);
  return {
    rayStartParams: startParams(commands, type),
    template: {
      ...metadataOf(pod),
      spec: {
        ...(isMap(dig(pod, 'spec')) && withoutKeys(dig(pod, 'spec') as JsonMap, dropped)),
        containers: [container, ...more],
      },
    },
  };
}

/** Of the pods of Ray's first Kubernetes provider: what KubeRay decides itself. */
const dropped = ['containers', 'restartPolicy', 'serviceAccountName', 'serviceAccount'];

/** Files of that provider have a whole pod for each node type. */
function podIn(launch: PlainMap): Json | undefined {
  const value = jsonOf(launch);
  const pod = isMap(dig(value, 'pod')) ? dig(value, 'pod') : value;
  return textAt(pod, 'kind') === 'Pod' || listAt(pod, 'spec', 'containers').length > 0 ? pod : undefined;
}

function metadataOf(pod: Json | undefined): JsonMap {
  const kept = Object.fromEntries(
    ['labels', 'annotations'].flatMap((key) => {
      const value = dig(pod, 'metadata', key);
      return isMap(value) ? [[key, value]] : [];
    }),
  );
  return Object.keys(kept).length === 0 ? {} : { metadata: kept };
}

function resourcesOf(given: Json | undefined, type: NodeType | undefined): JsonMap {
  const own = dig(given, 'resources');
  if (isMap(own) || type === undefined) return {};
  const [cpu, memory, gpu] = ['CPU', 'memory', 'GPU'].map((name) => amountOf(type.resources, name));
  const amounts = {
    ...(cpu && { cpu: String(cpu) }),
    ...(memory && { memory: String(Math.floor(memory)) }),
    ...(gpu && { 'nvidia.com/gpu': String(gpu) }),
  };
  return Object.keys(amounts).length === 0 ? {} : { resources: { limits: amounts, requests: amounts } };
}

/** KubeRay makes a service of the ports that the head names; without names it does not know which is which. */
const headPorts = [
  { containerPort: 6379, name: 'gcs-server' },
  { containerPort: 8265, name: 'dashboard' },
  { containerPort: 10_001, name: 'client' },
  { containerPort: 8000, name: 'serve' },
];

function portsOf(given: Json | undefined): readonly Json[] {
  const known = new Set(headPorts.map(({ containerPort }) => containerPort));
  const own = listAt(given, 'ports').filter((port) => !known.has(Number(dig(port, 'containerPort'))));
  return [...headPorts, ...own];
}

/** Options of `ray start` that KubeRay sets itself, or that Ray no longer has. */
const ownOptions = new Set([
  ...['head', 'port', 'address', 'autoscaling-config', 'block', 'num-redis-shards', 'redis-shard-ports'],
  ...['redis-port', 'redis-address', 'include-webui', 'internal-config', 'memory', 'num-cpus', 'num-gpus', 'resources'],
]);

const renamedOptions = new Map([['webui-host', 'dashboard-host']]);

function startParams({ start }: NodeCommands, type: NodeType | undefined): JsonMap {
  const line = start.find((each) => /\bray start\b/.test(each)) ?? '';
  const params = new Map<string, string>();
  for (const [, name = '', value] of line.matchAll(/\s--([a-z][a-z-]*)(?:[= ](?!-)([^\s;&|]+))?/g))
    if (!ownOptions.has(name) && !(value ?? '').includes('$'))
      params.set(renamedOptions.get(name) ?? name, value ?? 'true');
  const custom = Object.entries(type?.resources ?? {}).filter(
    ([name]) => !['CPU', 'GPU', 'memory', 'object_store_memory'].includes(name),
  );
  // KubeRay puts it into a command line as it is: the quotes are for the shell there.
  if (custom.length > 0) params.set('resources', JSON.stringify(JSON.stringify(Object.fromEntries(custom))));
  return Object.fromEntries(params);
}

/** What stands in the file and has no place in a manifest. */
function noteLost(spec: ClusterSpec, note: Note): void {
  const groups = [spec.head, ...spec.nodeTypes.map(({ worker }) => worker)];
  const has = (key: 'initialization' | 'setup'): boolean => groups.some((group) => group[key].length > 0);
  if (has('setup')) note('setup_commands', 'build what they install into the image: pods start from it each time');
  if (has('initialization')) note('initialization_commands', 'the administrators of Kubernetes prepare its nodes');
  if (groups.some((group) => group.start.some((each) => !/\bray (?:start|stop)\b/.test(each))))
    note('head_start_ray_commands', 'only the options of `ray start` are kept; other commands belong into the image');
  if (spec.files.mounts.length > 0)
    note('file_mounts', 'put the files into the image, a ConfigMap or a volume; jobs bring theirs with --working-dir');
  if (groups.some((group) => (group.container?.runOptions.length ?? 0) > 0))
    note('docker.run_options', 'write volumes, variables and limits into the pod templates');
  if (spec.auth.user !== undefined || spec.auth.privateKey !== undefined)
    note('auth', 'pods are reached through the API server, without SSH');
  if (spec.provider.kind === 'elsewhere' && Object.keys(spec.provider.config).length > 0)
    note('provider', 'KubeRay makes services, service accounts and roles itself; namespaces are for kubectl');
  if (spec.provider.kind !== 'elsewhere')
    note(
      'provider, node_config',
      'the nodes of Kubernetes decide on machines; choose them with nodeSelector and tolerations',
    );
  if (spec.maxWorkers !== undefined && spec.maxWorkers < spec.nodeTypes.reduce((sum, type) => sum + type.maxWorkers, 0))
    note('max_workers', 'a RayCluster limits each group, not all of them together');
}

const withoutKeys = (map: JsonMap, keys: readonly string[]): JsonMap =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));

function jsonOf(value: Plain): Json {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return (value as readonly Plain[]).map(jsonOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, jsonOf(each)]));
  return value;
}
