import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { RayConfigError, rayProblems } from './problems.ts';
import { expectMap, isTrue, kindOf, type Mutable } from './truth.ts';

export const LEGACY_HEAD = 'ray-legacy-head-node-type';
export const LEGACY_WORKER = 'ray-legacy-worker-node-type';

/** Makes node types of `head_node` and `worker_nodes`; an empty one takes the provider's default type instead. */
export function mergeLegacyTypes(config: Mutable): Mutable {
  const defaults = expectMap(config.available_node_types, ['available_node_types'], 'available_node_types');
  const names = Object.keys(defaults);
  const headType = config.head_node_type;
  if (names.length !== 2) {
    throw new RayConfigError(
      rayProblems.legacy,
      ['provider', 'type'],
      `head_node and worker_nodes do not work with provider '${String((config.provider as PlainMap).type)}'`,
      'use available_node_types',
    );
  }
  if (typeof headType === 'object' && headType !== null && !(headType instanceof Date)) {
    throw new RayConfigError(
      rayProblems.type,
      ['head_node_type'],
      `'head_node_type' must be text, found ${kindOf(headType)}`,
    );
  }
  const workerType = names.find((name) => name !== headType) as string;
  const headNode = legacyNode(config, 'head_node');
  const workerNodes = legacyNode(config, 'worker_nodes');
  const types: Mutable = {};
  if (isTrue(headNode)) {
    types[LEGACY_HEAD] = { node_config: headNode, resources: resourcesOf(headNode), min_workers: 0, max_workers: 0 };
  } else {
    types[LEGACY_HEAD] = defaultType(defaults, headType);
  }
  if (isTrue(workerNodes)) {
    if (!Object.hasOwn(config, 'max_workers'))
      throw new RayConfigError(rayProblems.missing, [], "there is no 'max_workers'", "add 'max_workers:'");
    types[LEGACY_WORKER] = {
      node_config: workerNodes,
      resources: resourcesOf(workerNodes),
      min_workers: Object.hasOwn(config, 'min_workers') ? (config.min_workers as Plain) : 0,
      max_workers: config.max_workers as Plain,
    };
  } else {
    types[LEGACY_WORKER] = defaultType(defaults, workerType);
  }
  delete headNode.resources;
  delete workerNodes.resources;
  config.available_node_types = types;
  config.head_node_type = LEGACY_HEAD;
  return config;
}

function legacyNode(config: Mutable, key: 'head_node' | 'worker_nodes'): Mutable {
  const other = key === 'head_node' ? 'worker_nodes' : 'head_node';
  if (!Object.hasOwn(config, key)) {
    throw new RayConfigError(
      rayProblems.legacy,
      [other],
      `there is '${other}' and no '${key}'`,
      `add '${key}: {}', or use available_node_types`,
    );
  }
  return expectMap(config[key], [key], key);
}

const resourcesOf = (node: PlainMap): Plain => (isTrue(node.resources) ? (node.resources as Plain) : {});

function defaultType(defaults: PlainMap, name: Plain | undefined): Plain {
  const type = typeof name === 'string' ? ownValue(defaults, name) : undefined;
  if (type === undefined)
    throw new RayConfigError(
      rayProblems.head,
      ['head_node_type'],
      `there is no node type '${String(name)}' to replace the empty 'head_node'`,
    );
  return type;
}
