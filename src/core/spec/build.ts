import { ownValue } from '../../base/own-value.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { Resources } from '../resources.ts';
import {
  type AuthSpec,
  type ClusterSpec,
  type ContainerSpec,
  type FileSpec,
  minutes,
  type NodeCommands,
  type NodeType,
  type Plain,
  type PlainMap,
  seconds,
} from './cluster.ts';
import { fingerprint } from './fingerprint.ts';
import type { Modern } from './legacy/modernise.ts';
import { isPrepared, localTypeName, localTypes, localWorkers } from './local.ts';
import { type MantaNodeType, mantaSpec, plainNodeType } from './manta.ts';
import { offersFor } from './offers.ts';
import { mapOf, numberOf } from './plain.ts';
import type { ProviderFacts } from './provider-facts.ts';
import { inFileOrder, type Source } from './source.ts';

/** The spec of a file that passed the checks. `defaults` fill top-level keys that the file does not have, as in Ray. */
export function buildSpec(source: Source, modern: Modern, defaults: PlainMap, facts: ProviderFacts): ClusterSpec {
  const file = { ...defaults, ...withoutNulls(modern.value) };
  const provider = mapOf(file.provider);
  const { type: providerType, manta: written, ...config } = provider;
  const manta = mantaSpec(written);
  const local = facts.kind === 'own-hosts' && !isPrepared(file) ? localWorkers(modern.value, manta.pools) : undefined;
  const types = local ? localTypes(local, manta.pools) : mapOf(file.available_node_types);
  const maxWorkers = local?.maxWorkers ?? Number(file.max_workers);
  const headType = local ? localTypeName : String(file.head_node_type);
  const nodeTypes = inFileOrder(Object.keys(types), modern.typeNames).map((name) =>
    nodeType(name, mapOf(ownValue(types, name)), {
      file,
      provider,
      facts,
      own: manta.nodeTypes.get(name) ?? plainNodeType,
      maxWorkers,
      isHead: name === headType && !local,
    }),
  );
  const launchConfig = modern.headLaunchConfig ?? nodeTypes.find((type) => type.name === headType)?.launchConfig ?? {};
  return {
    name: String(file.cluster_name),
    provider: {
      type: String(providerType),
      kind: facts.kind,
      config,
      manta,
      ...(Object.keys(mapOf(written)).length > 0 && { mantaAsWritten: mapOf(written) }),
    },
    headType,
    maxWorkers: instanceLimit(maxWorkers, nodeTypes),
    idleTimeout: minutes(Number(file.idle_timeout_minutes)),
    ...(manta.idle === 'economic' && { idle: manta.idle }),
    upscalingSpeed: Number(file.upscaling_speed),
    replaceOutdated: provider.disable_launch_config_check === false,
    // Ray's default is to stop them: what costs money is kept only where the file says so.
    stopsIdle: mapOf(modern.value.provider).cache_stopped_nodes === true,
    nodeTypes,
    head: { ...commandsOf(file, 'head', {}), launchConfig },
    auth: authOf(mapOf(file.auth)),
    files: filesOf(file, source.keys(['file_mounts'])),
  };
}

/**
 * The file counts a slice once, the planner counts its hosts: the limit makes room for what the file allows, and never
 * for more than the types together.
 */
function instanceLimit(maxWorkers: number, types: readonly NodeType[]): number {
  const hosts = Math.max(1, ...types.map((type) => type.hostsPerSlice));
  const together = types.reduce((sum, type) => sum + type.maxWorkers, 0);
  return hosts === 1 ? maxWorkers : Math.min(maxWorkers * hosts, Math.max(maxWorkers, together));
}

interface Around {
  readonly file: PlainMap;
  readonly provider: PlainMap;
  readonly facts: ProviderFacts;
  readonly own: MantaNodeType;
  readonly maxWorkers: number;
  readonly isHead: boolean;
}

function nodeType(name: string, type: PlainMap, around: Around): NodeType {
  const { facts } = around;
  const launchConfig = mapOf(type.node_config);
  const given = resourcesOf(mapOf(type.resources));
  const likely = facts.likelyResources?.(launchConfig);
  const maxWorkers = numberOf(type.max_workers) ?? (around.isHead ? 0 : around.maxWorkers);
  const minWorkers = Math.min(numberOf(type.min_workers) ?? 0, maxWorkers);
  const idleTimeout = idleTimeoutOf(type.idle_timeout_s);
  const hosts = around.own.hostsPerSlice ?? facts.offers?.hostsPerSlice?.(launchConfig) ?? 1;
  const complete = facts.completesResources === true ? 'CPU' in given : Object.keys(given).length > 0;
  return {
    name,
    resources: complete ? given : { ...likely, ...given },
    resourcesKnown: complete,
    labels: Object.fromEntries(Object.entries(mapOf(type.labels)).map(([label, value]) => [label, String(value)])),
    minWorkers: minWorkers * hosts,
    maxWorkers: maxWorkers * hosts,
    initialWorkers: Math.min(maxWorkers, Math.max(minWorkers, around.own.initialWorkers)) * hosts,
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    priority: numberOf(type.priority) ?? 0,
    launchHash: fingerprint(launchConfig),
    hostsPerSlice: hosts,
    ...(around.own.allocationTimeout !== undefined && { allocationTimeout: around.own.allocationTimeout }),
    offers: offersFor(around.provider, launchConfig, around.own, facts.offers),
    launchConfig,
    worker: commandsOf(around.file, 'worker', type),
  };
}

/** What a node runs. A type's own lists stand in place of the cluster's, `setup_commands` included, as in Ray. */
function commandsOf(file: PlainMap, role: 'head' | 'worker', type: PlainMap): NodeCommands {
  const container = containerOf({ ...mapOf(file.docker), ...mapOf(type.docker) }, role);
  const setup = [...linesOf(file.setup_commands), ...linesOf(file[`${role}_setup_commands`])];
  return {
    initialization: linesOf(type.initialization_commands ?? file.initialization_commands),
    setup: role === 'worker' && type.worker_setup_commands !== undefined ? linesOf(type.worker_setup_commands) : setup,
    start: linesOf(file[`${role}_start_ray_commands`]),
    ...(container === undefined ? {} : { container }),
  };
}

function containerOf(docker: PlainMap, role: 'head' | 'worker'): ContainerSpec | undefined {
  const image = docker[`${role}_image`] ?? docker.image;
  if (
    typeof image !== 'string' ||
    image === '' ||
    typeof docker.container_name !== 'string' ||
    docker.container_name === ''
  )
    return undefined;
  return {
    engine: docker.use_podman === true ? 'podman' : 'docker',
    image,
    name: docker.container_name,
    pullBeforeRun: docker.pull_before_run !== false,
    runOptions: [...linesOf(docker.run_options), ...linesOf(docker[`${role}_run_options`])],
    detectGpuRuntime: docker.disable_automatic_runtime_detection !== true,
    detectShmSize: docker.disable_shm_size_detection !== true,
  };
}

function authOf(auth: PlainMap): AuthSpec {
  const text = (name: string, value: Plain | undefined): object =>
    typeof value === 'string' && value !== '' ? { [name]: value } : {};
  return {
    ...text('user', auth.ssh_user),
    ...text('privateKey', auth.ssh_private_key),
    ...text('publicKey', auth.ssh_public_key),
    ...text('proxyCommand', auth.ssh_proxy_command),
    proxyUsesNodeId: auth.ssh_proxy_use_node_id === true,
  };
}

function filesOf(file: PlainMap, written: readonly string[]): FileSpec {
  const mounts = mapOf(file.file_mounts);
  return {
    mounts: inFileOrder(Object.keys(mounts), written).map((remote) => ({
      remote,
      local: String(ownValue(mounts, remote)),
    })),
    clusterSynced: linesOf(file.cluster_synced_files),
    syncContinuously: file.file_mounts_sync_continuously === true,
    exclude: linesOf(file.rsync_exclude),
    filter: linesOf(file.rsync_filter),
  };
}

/** A key without a value is as good as absent, but where the key itself says something: an empty list stays empty. */
function withoutNulls(file: PlainMap): PlainMap {
  return Object.fromEntries(
    Object.entries(file).map(([key, value]) => [key, value === null ? (emptyLists.has(key) ? [] : {}) : value]),
  );
}

const emptyLists = new Set([
  'initialization_commands',
  'setup_commands',
  'head_setup_commands',
  'worker_setup_commands',
  'head_start_ray_commands',
  'worker_start_ray_commands',
  'cluster_synced_files',
  'rsync_exclude',
  'rsync_filter',
]);

const linesOf = (value: Plain | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Plain[]).map(String) : [];
const resourcesOf = (given: PlainMap): Resources =>
  Object.fromEntries(Object.entries(given).map(([name, amount]) => [name, Number(amount)]));
const idleTimeoutOf = (given: Plain | undefined): Duration | undefined =>
  typeof given === 'number' ? seconds(given) : undefined;
