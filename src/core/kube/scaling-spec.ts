import type { Resources } from '../resources.ts';
import type { NodeType } from '../spec/cluster.ts';
import { seconds } from '../spec/cluster.ts';
import { dig, entriesAt, isMap, type Json, listAt, numberAt, textAt } from './object.ts';
import { readQuantity } from './quantity.ts';

/** Port of mantad's gateway in a head pod; 8265 is that of Ray's dashboard there. */
export const mantadPort = 8266;

/** Ray's name for the node type of the head of a RayCluster. */
export const headGroup = 'headgroup';

/** What a RayCluster says of scaling. */
export interface RayClusterScaling {
  /** The head's first, then the worker groups in their order. */
  readonly nodeTypes: readonly NodeType[];
  readonly maxWorkers: number;
  readonly idleTimeout: number;
  readonly upscalingSpeed: number;
}

/** As Ray's default where the RayCluster says nothing. */
const idleSeconds = 60;
const unlimitedSpeed = 1_000;

/** Why it cannot be read, in words that name the group. */
export interface ScalingProblem {
  readonly problem: string;
}

/** What Ray's own autoscaler reads from a RayCluster (`_derive_autoscaling_config_from_ray_cr`). */
export function scalingOf(cluster: Json): RayClusterScaling | ScalingProblem {
  const groups = [
    nodeTypeOf(dig(cluster, 'spec', 'headGroupSpec'), true),
    ...listAt(cluster, 'spec', 'workerGroupSpecs').map((group) => nodeTypeOf(group, false)),
  ];
  const bad = groups.find((each) => 'problem' in each);
  if (bad !== undefined) return bad;
  const nodeTypes = groups as readonly NodeType[];
  const isSlow = textAt(cluster, 'spec', 'autoscalerOptions', 'upscalingMode') === 'Conservative';
  return {
    nodeTypes,
    maxWorkers: nodeTypes.reduce((sum, { maxWorkers }) => sum + maxWorkers, 0),
    idleTimeout: seconds(numberAt(cluster, 'spec', 'autoscalerOptions', 'idleTimeoutSeconds') ?? idleSeconds),
    upscalingSpeed: isSlow ? 1 : unlimitedSpeed,
  };
}

const noCommands = { initialization: [], setup: [], start: [] };

function nodeTypeOf(group: Json | undefined, isHead: boolean): NodeType | ScalingProblem {
  const name = isHead ? headGroup : (textAt(group, 'groupName') ?? '');
  const hosts = isHead ? 1 : Math.max(1, numberAt(group, 'numOfHosts') ?? 1);
  const read = resourcesOf(group, name);
  if ('problem' in read) return read;
  const idle = numberAt(group, 'idleTimeoutSeconds');
  // The first host of a slice has it; a slice of one host is its own first.
  const isSlice = hosts > 1 && Object.keys(read.tpuHead).length > 0;
  const least = (numberAt(group, 'minReplicas') ?? 0) * hosts;
  const labels = entriesAt(group, 'labels').filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    name,
    resources: isSlice ? read.resources : { ...read.resources, ...read.tpuHead },
    ...(isSlice && { firstHost: read.tpuHead }),
    resourcesKnown: true,
    labels: Object.fromEntries(labels),
    minWorkers: isHead ? 0 : least,
    maxWorkers: isHead ? 0 : (numberAt(group, 'maxReplicas') ?? 0) * hosts,
    initialWorkers: isHead ? 0 : least,
    ...(idle !== undefined && { idleTimeout: seconds(idle) }),
    priority: numberAt(group, 'priority') ?? 0,
    launchHash: '',
    hostsPerSlice: hosts,
    offers: [{ market: 'on-demand' }],
    launchConfig: {},
    worker: noCommands,
  };
}

interface GroupResources {
  readonly resources: Resources;
  /** What tells the first host of a slice of TPUs. */
  readonly tpuHead: Resources;
}

/** The group's own `resources` come first, then the parameters of `ray start`, then limits and requests of the container. */
function resourcesOf(group: Json | undefined, name: string): GroupResources | ScalingProblem {
  const own = new Map(entriesAt(group, 'resources'));
  const params = new Map(entriesAt(group, 'rayStartParams'));
  const container = dig(group, 'template', 'spec', 'containers', 0, 'resources');
  const limits = new Map(entriesAt(container, 'limits'));
  const requests = new Map(entriesAt(container, 'requests'));
  const bad = (what: string): ScalingProblem => ({ problem: `the group '${name}' has ${what}` });
  const amount = (resource: string, param: string, ofPod: string): number | undefined => {
    if (own.has(resource)) return rounded(own.get(resource));
    if (params.has(param)) return whole(params.get(param));
    return rounded(limits.get(ofPod) ?? requests.get(ofPod));
  };
  const cpus = amount('CPU', 'num-cpus', 'cpu');
  if (cpus === undefined)
    return { problem: `the group '${name}' does not say how many CPUs it has: set a CPU limit on its Ray container` };
  const memory = amount('memory', 'memory', 'memory');
  const custom = own.size > 0 ? ownCustom(own) : customOf(params.get('resources'));
  if (custom === undefined) return bad(`a 'resources' parameter that Ray cannot read`);
  const gpus = own.has('GPU')
    ? rounded(own.get('GPU'))
    : params.has('num-gpus')
      ? whole(params.get('num-gpus'))
      : [...limits, ...requests]
          .map(([key, value]) => (key.endsWith('gpu') ? (rounded(value) ?? 0) : 0))
          .find((n) => n > 0);
  const tpus = own.has('TPU')
    ? rounded(own.get('TPU'))
    : (custom['TPU'] ??
      [limits, requests].map((each) => rounded(each.get('google.com/tpu')) ?? 0).find((count) => count > 0));
  return {
    resources: {
      CPU: cpus,
      ...(gpus !== undefined && { GPU: gpus }),
      ...(tpus !== undefined && !Object.hasOwn(custom, 'TPU') && { TPU: tpus }),
      ...(memory !== undefined && { memory }),
      ...custom,
    },
    tpuHead: tpus === undefined ? {} : tpuHeadOf(group),
  };
}

const rounded = (value: Json | undefined): number | undefined => {
  const read = readQuantity(value);
  return read === undefined ? undefined : Math.ceil(read);
};

const whole = (value: Json | undefined): number | undefined =>
  typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value)
    ? Number(value)
    : typeof value === 'number'
      ? value
      : undefined;

const standard = new Set(['CPU', 'GPU', 'TPU', 'memory']);

function ownCustom(own: ReadonlyMap<string, Json>): Resources | undefined {
  const read = [...own].filter(([key]) => !standard.has(key)).map(([key, value]) => [key, rounded(value)] as const);
  return read.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(read) as Resources);
}

/** Written as a text in quotes, with the quotes inside of it escaped: `'"{\"Custom1\": 1}"'`. */
function customOf(param: Json | undefined): Resources | undefined {
  if (param === undefined) return {};
  if (typeof param !== 'string') return undefined;
  try {
    const read = JSON.parse(param.slice(1, -1).replaceAll('\\', '')) as Json;
    return isMap(read) && Object.values(read).every(Number.isInteger) ? (read as Resources) : undefined;
  } catch {
    return undefined;
  }
}

const generations: ReadonlyMap<string, string> = new Map([
  ['tpu-v4-podslice', 'v4'],
  ['tpu-v5-lite-device', 'v5litepod'],
  ['tpu-v5-lite-podslice', 'v5litepod'],
  ['tpu-v5p-slice', 'v5p'],
  ['tpu-v6e-slice', 'v6e'],
  ['tpu7x', 'v7x'],
]);

/** Generations whose chips have one core. */
const oneCore = new Set(['v5litepod', 'v6e']);

/** By the labels of the nodes that GKE puts the pods on. */
function tpuHeadOf(group: Json | undefined): Resources {
  const selector = new Map(entriesAt(group, 'template', 'spec', 'nodeSelector'));
  const topology = selector.get('cloud.google.com/gke-tpu-topology');
  const accelerator = selector.get('cloud.google.com/gke-tpu-accelerator');
  if (typeof topology !== 'string' || typeof accelerator !== 'string') return {};
  const generation = generations.get(accelerator);
  if (generation === undefined) return {};
  const chips = topology.split('x').reduce((product, side) => product * Number(side), 1);
  return { [`TPU-${generation}-${chips * (oneCore.has(generation) ? 1 : 2)}-head`]: 1 };
}
