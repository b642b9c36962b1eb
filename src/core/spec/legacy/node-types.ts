import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import type { Path } from '../problem.ts';
import { inFileOrder, isMap } from '../source.ts';
import type { Draft, LegacyDraft } from './draft.ts';

/** The names that Ray itself gives to the types of a file with head_node and worker_nodes. */
export const legacyHeadType = 'ray-legacy-head-node-type';
export const legacyWorkerType = 'ray-legacy-worker-node-type';

/** Where files of any era name their node types. */
const typePaths: readonly Path[] = [
  ['available_node_types'],
  ['available_instance_types'],
  ['available_instances'],
  ['provider', 'available_instance_types'],
];

/** Names of the node types in the order of the file. */
export function typeNamesOf(file: LegacyDraft): readonly string[] {
  const types = file.value.available_node_types;
  return isMap(types) ? inFileOrder(Object.keys(types), typePaths.flatMap(file.source.keys)) : [];
}

/** `head_node`, `worker_nodes` and the first forms of node types become `available_node_types`; returns the head's own launch configuration. */
export function shapeNodeTypes(file: LegacyDraft): PlainMap | undefined {
  const head = file.value.head_node;
  const worker = file.value.worker_nodes;
  const instances = takeInstanceTypes(file);
  if (!('available_node_types' in file.value)) {
    if (head === undefined && worker === undefined && instances === undefined) return undefined;
    const usual = usualTypes(file.defaults);
    const workers: Draft = instances
      ? instanceTypes(file, instances, worker)
      : { [legacyWorkerType]: typeFrom(worker, usual.worker, undefined) };
    file.value.available_node_types = { [legacyHeadType]: typeFrom(head, usual.head, 0), ...workers };
    file.value.head_node_type = legacyHeadType;
    if (head !== undefined) file.legacy(['head_node'], 'a node type in available_node_types, named by head_node_type');
    if (worker !== undefined) file.legacy(['worker_nodes'], 'a node type in available_node_types');
    delete file.value.head_node;
    delete file.value.worker_nodes;
    return undefined;
  }
  delete file.value.head_node;
  delete file.value.worker_nodes;
  if (hasNoHeadType(file) && isMap(head) && Object.keys(head).length > 0) {
    file.value.available_node_types = {
      [legacyHeadType]: typeFrom(head, undefined, 0),
      ...(file.value.available_node_types as PlainMap),
    };
    file.value.head_node_type = legacyHeadType;
  }
  return overlay(file, head, worker);
}

/** Node types for the workers only: how the first files with node types were written. */
function hasNoHeadType(file: LegacyDraft): boolean {
  const types = file.value.available_node_types;
  return (
    file.value.head_node_type === undefined &&
    isMap(types) &&
    !Object.hasOwn(types, file.defaults.head_node_type as string)
  );
}

function takeInstanceTypes(file: LegacyDraft): PlainMap | undefined {
  let taken: PlainMap | undefined;
  for (const key of ['available_instance_types', 'available_instances'] as const) {
    if (!Object.hasOwn(file.value, key)) continue;
    const given = ownValue(file.value, key);
    if (isMap(given)) taken = given;
    file.legacy([key], 'available_node_types');
    delete file.value[key];
  }
  if (isMap(file.value.provider) && isMap(file.value.provider.available_instance_types)) {
    const { available_instance_types: given, ...rest } = file.value.provider;
    taken = given;
    file.legacy(['provider', 'available_instance_types'], 'available_node_types');
    file.value.provider = rest;
  }
  return taken;
}

/** The first form of node types: instance type, its resources, the most of it, and which one is the default. */
function instanceTypes(file: LegacyDraft, instances: PlainMap, worker: Plain | undefined): Draft {
  const base = isMap(worker) ? worker : {};
  const names = inFileOrder(Object.keys(instances), typePaths.flatMap(file.source.keys));
  const entryOf = (name: string): PlainMap => {
    const entry = ownValue(instances, name);
    return isMap(entry) ? entry : {};
  };
  const usual = names.find((name) => entryOf(name).default === true) ?? names[0];
  file.value.worker_default_node_type ??= usual ?? legacyWorkerType;
  return Object.fromEntries(
    names.map((name) => {
      const { resources, max_count: most } = entryOf(name);
      const limit = most === undefined ? {} : { max_workers: most };
      return [name, { resources: resources ?? {}, ...limit, node_config: { ...base, InstanceType: name } }];
    }),
  );
}

/** `worker_nodes` under every type and `head_node` under the head's: how Ray 1.0 read a file that has both forms. */
function overlay(file: LegacyDraft, head: Plain | undefined, worker: Plain | undefined): PlainMap | undefined {
  for (const [key, given] of [
    ['head_node', head],
    ['worker_nodes', worker],
  ] as const) {
    if (given === undefined) continue;
    if (isMap(given) && Object.keys(given).length > 0) file.legacy([key], 'the node_config of each node type');
    else file.ignored([key], 'the file has available_node_types');
  }
  const types = file.value.available_node_types;
  if (!isMap(types)) return undefined;
  const headName = String(file.value.head_node_type ?? file.defaults.head_node_type);
  const base = isMap(worker) ? worker : {};
  file.value.available_node_types = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      isMap(type) && Object.keys(base).length > 0 ? over(base, type) : type,
    ]),
  );
  const own = ownValue(types, headName);
  if (!isMap(own) || headName === legacyHeadType || !isMap(head)) return undefined;
  const headType = over(head, own);
  if (numberOr(own.max_workers, 0) > 0) return headType.node_config as PlainMap;
  file.value.available_node_types = {
    ...file.value.available_node_types,
    [headName]: Object.keys(head).length > 0 ? headType : own,
  };
  return undefined;
}

/** A node type on top of a launch configuration that stood for all of them. */
const over = (base: PlainMap, type: PlainMap): PlainMap => ({
  ...type,
  node_config: { ...base, ...(isMap(type.node_config) ? type.node_config : {}) },
});

function usualTypes(defaults: PlainMap): { readonly head: Plain | undefined; readonly worker: Plain | undefined } {
  const types = isMap(defaults.available_node_types) ? defaults.available_node_types : {};
  const head = defaults.head_node_type as string;
  const worker = Object.keys(types).find((name) => name !== head);
  return { head: ownValue(types, head), worker: worker === undefined ? undefined : ownValue(types, worker) };
}

/** The type that a `head_node` or `worker_nodes` stands for; the provider's usual one where it is empty. */
function typeFrom(node: Plain | undefined, usual: Plain | undefined, most: number | undefined): PlainMap {
  const limit = most === undefined ? {} : { min_workers: 0, max_workers: most };
  if (!isMap(node) || Object.keys(node).length === 0)
    return { ...(isMap(usual) ? usual : { resources: {}, node_config: {} }), ...limit };
  const { resources, ...launch } = node;
  return { resources: isMap(resources) ? resources : {}, node_config: launch, ...limit };
}

export const numberOr = (value: Plain | undefined, other: number): number =>
  typeof value === 'number' ? value : other;
