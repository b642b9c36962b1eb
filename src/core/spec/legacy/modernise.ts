import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import type { Path, Problem } from '../problem.ts';
import { pathText, report } from '../problems.ts';
import { inFileOrder, isMap, type Source } from '../source.ts';
import { legacyProblems as problems } from './problems.ts';

/** The names that Ray itself gives to the types of a file with head_node and worker_nodes. */
export const legacyHeadType = 'ray-legacy-head-node-type';
export const legacyWorkerType = 'ray-legacy-worker-node-type';

/** Keys that only changed their name. */
export const renamed: Readonly<Record<string, string>> = {
  max_worker_nodes: 'max_workers',
  min_worker_nodes: 'min_workers',
  worker_node_default_type: 'worker_default_node_type',
  node_creation_commands: 'setup_commands',
  head_node_creation_commands: 'head_setup_commands',
  worker_node_creation_commands: 'worker_setup_commands',
  node_setup_commands: 'setup_commands',
  head_ray_restart_commands: 'head_start_ray_commands',
  worker_ray_restart_commands: 'worker_start_ray_commands',
  head_init_commands: 'head_start_ray_commands',
  init_commands: 'worker_start_ray_commands',
  worker_init_commands: 'worker_start_ray_commands',
};

/** Commands that ran on head and workers alike, before the start commands of each. */
export const sharedStart = ['node_start_commands', 'start_ray_commands', 'ray_restart_commands'] as const;
const startKeys = ['head_start_ray_commands', 'worker_start_ray_commands'] as const;

/** Where files of any era name their node types. */
const typePaths: readonly Path[] = [
  ['available_node_types'],
  ['available_instance_types'],
  ['available_instances'],
  ['provider', 'available_instance_types'],
];

export interface Modern {
  /** The file in the keys of today, before any default. */
  readonly value: PlainMap;
  /** Of its node types, in the order of the file, which the mapping itself loses for names such as `8`. */
  readonly typeNames: readonly string[];
  /** The head's own launch configuration, where the file has one beside its node types. */
  readonly headLaunchConfig?: PlainMap;
  readonly problems: readonly Problem[];
}

type Draft = Record<string, Plain>;

/**
 * A file of any era in the keys of today: what legacy keys meant in their day, each with a warning that names the modern
 * form. `defaults` are those of the provider. Values of the wrong type are left for the structural check.
 */
export function modernise(source: Source, defaults: PlainMap): Modern {
  const value: Draft = { ...(source.value as PlainMap) };
  const found: Problem[] = [];
  const isLocal = isMap(value.provider) && value.provider.type === 'local';

  renameKeys();
  mergeSharedStart();
  setSpeed();
  const headLaunchConfig = isLocal ? dropNodes() : shapeNodeTypes();
  if (!isLocal) placeWorkerCounts();
  dropDockerInstall();
  const modern = { value, typeNames: typeNames(), problems: found };
  return headLaunchConfig === undefined ? modern : { ...modern, headLaunchConfig };

  function legacy(path: Path, modern: string): void {
    found.push(report(problems.LegacyKey, { at: source.keyAt(path), path }, { key: pathText(path), modern }));
  }

  function ignored(path: Path, why: string): void {
    found.push(report(problems.LegacyIgnored, { at: source.keyAt(path), path }, { key: pathText(path), why }));
  }

  function typeNames(): readonly string[] {
    const types = value.available_node_types;
    return isMap(types) ? inFileOrder(Object.keys(types), typePaths.flatMap(source.keys)) : [];
  }

  function renameKeys(): void {
    for (const [old, modern] of Object.entries(renamed)) rename(value, old, modern, []);
    if (isMap(value.provider) && 'worker_node_ips' in value.provider) {
      const provider: Draft = { ...value.provider };
      rename(provider, 'worker_node_ips', 'worker_ips', ['provider']);
      value.provider = provider;
    }
    if (!isMap(value.available_node_types)) return;
    const types: Draft = { ...value.available_node_types };
    for (const [name, type] of Object.entries(types)) {
      if (!isMap(type)) continue;
      const draft: Draft = { ...type };
      rename(draft, 'setup_commands', 'worker_setup_commands', ['available_node_types', name]);
      for (const count of ['min', 'max'])
        rename(draft, `${count}_worker_nodes`, `${count}_workers`, ['available_node_types', name]);
      types[name] = draft;
    }
    value.available_node_types = types;
  }

  function rename(draft: Draft, old: string, modern: string, parent: Path): void {
    if (!Object.hasOwn(draft, old)) return;
    const given = ownValue(draft, old) as Plain;
    delete draft[old];
    if (Object.hasOwn(draft, modern)) {
      ignored([...parent, old], `the file has '${modern}' too`);
      return;
    }
    draft[modern] = given;
    legacy([...parent, old], `'${modern}'`);
  }

  function mergeSharedStart(): void {
    for (const key of sharedStart) {
      if (!Object.hasOwn(value, key)) continue;
      const given = ownValue(value, key);
      const shared = typeof given === 'string' ? [given] : given;
      delete value[key];
      legacy([key], startKeys.join(' and '));
      if (!Array.isArray(shared)) continue;
      for (const own of startKeys) {
        const rest = ownValue(value, own) ?? ownValue(defaults, own);
        if (Array.isArray(rest)) value[own] = [...(shared as readonly Plain[]), ...(rest as readonly Plain[])];
      }
    }
  }

  function setSpeed(): void {
    const speed = legacySpeed(value);
    for (const key of ['autoscaling_mode', 'target_utilization_fraction'] as const) {
      if (!Object.hasOwn(value, key)) continue;
      if (value.upscaling_speed !== undefined) ignored([key], "the file has 'upscaling_speed' too");
      else if (speed?.from === key) legacy([key], `'upscaling_speed: ${speed.value}'`);
      else ignored([key], speed === undefined ? 'it asked for what is the default today' : `'${speed.from}' decides`);
    }
    if (value.upscaling_speed === undefined && speed !== undefined) value.upscaling_speed = speed.value;
    delete value.autoscaling_mode;
    delete value.target_utilization_fraction;
  }

  function dropNodes(): undefined {
    for (const key of ['head_node', 'worker_nodes'] as const) {
      if (!Object.hasOwn(value, key)) continue;
      ignored([key], 'the hosts of a local cluster stand under provider');
      delete value[key];
    }
    for (const key of ['initial_workers', 'worker_default_node_type', 'head_node_type'] as const) {
      if (!Object.hasOwn(value, key) || (key === 'head_node_type' && 'available_node_types' in value)) continue;
      ignored([key], 'every host of worker_ips is a worker from the start');
      delete value[key];
    }
    return undefined;
  }

  function shapeNodeTypes(): PlainMap | undefined {
    const head = value.head_node;
    const worker = value.worker_nodes;
    const instances = takeInstanceTypes();
    if (!('available_node_types' in value)) {
      if (head === undefined && worker === undefined && instances === undefined) return undefined;
      const usual = usualTypes(defaults);
      const workers: Draft = instances
        ? instanceTypes(instances, worker)
        : { [legacyWorkerType]: typeFrom(worker, usual.worker, undefined) };
      value.available_node_types = { [legacyHeadType]: typeFrom(head, usual.head, 0), ...workers };
      value.head_node_type = legacyHeadType;
      if (head !== undefined) legacy(['head_node'], 'a node type in available_node_types, named by head_node_type');
      if (worker !== undefined) legacy(['worker_nodes'], 'a node type in available_node_types');
      delete value.head_node;
      delete value.worker_nodes;
      return undefined;
    }
    delete value.head_node;
    delete value.worker_nodes;
    if (hasNoHeadType() && isMap(head) && Object.keys(head).length > 0) {
      value.available_node_types = {
        [legacyHeadType]: typeFrom(head, undefined, 0),
        ...(value.available_node_types as PlainMap),
      };
      value.head_node_type = legacyHeadType;
    }
    return overlay(head, worker);
  }

  /** Node types for the workers only: how the first files with node types were written. */
  function hasNoHeadType(): boolean {
    const types = value.available_node_types;
    return (
      value.head_node_type === undefined && isMap(types) && !Object.hasOwn(types, defaults.head_node_type as string)
    );
  }

  function takeInstanceTypes(): PlainMap | undefined {
    let taken: PlainMap | undefined;
    for (const key of ['available_instance_types', 'available_instances'] as const) {
      if (!Object.hasOwn(value, key)) continue;
      const given = ownValue(value, key);
      if (isMap(given)) taken = given;
      legacy([key], 'available_node_types');
      delete value[key];
    }
    if (isMap(value.provider) && isMap(value.provider.available_instance_types)) {
      const { available_instance_types: given, ...rest } = value.provider;
      taken = given;
      legacy(['provider', 'available_instance_types'], 'available_node_types');
      value.provider = rest;
    }
    return taken;
  }

  /** The first form of node types: instance type, its resources, the most of it, and which one is the default. */
  function instanceTypes(instances: PlainMap, worker: Plain | undefined): Draft {
    const base = isMap(worker) ? worker : {};
    const names = inFileOrder(Object.keys(instances), typePaths.flatMap(source.keys));
    const entryOf = (name: string): PlainMap => {
      const entry = ownValue(instances, name);
      return isMap(entry) ? entry : {};
    };
    const usual = names.find((name) => entryOf(name).default === true) ?? names[0];
    value.worker_default_node_type ??= usual ?? legacyWorkerType;
    return Object.fromEntries(
      names.map((name) => {
        const { resources, max_count: most } = entryOf(name);
        const limit = most === undefined ? {} : { max_workers: most };
        return [name, { resources: resources ?? {}, ...limit, node_config: { ...base, InstanceType: name } }];
      }),
    );
  }

  /** `worker_nodes` under every type and `head_node` under the head's: how Ray 1.0 read a file that has both forms. */
  function overlay(head: Plain | undefined, worker: Plain | undefined): PlainMap | undefined {
    for (const [key, given] of [
      ['head_node', head],
      ['worker_nodes', worker],
    ] as const) {
      if (given === undefined) continue;
      if (isMap(given) && Object.keys(given).length > 0) legacy([key], 'the node_config of each node type');
      else ignored([key], 'the file has available_node_types');
    }
    const types = value.available_node_types;
    if (!isMap(types)) return undefined;
    const headName = String(value.head_node_type ?? defaults.head_node_type);
    const base = isMap(worker) ? worker : {};
    value.available_node_types = Object.fromEntries(
      Object.entries(types).map(([name, type]) => [
        name,
        isMap(type) && Object.keys(base).length > 0 ? over(base, type) : type,
      ]),
    );
    const own = ownValue(types, headName);
    if (!isMap(own) || headName === legacyHeadType || !isMap(head)) return undefined;
    const headType = over(head, own);
    if (numberOr(own.max_workers, 0) > 0) return headType.node_config as PlainMap;
    value.available_node_types = {
      ...value.available_node_types,
      [headName]: Object.keys(head).length > 0 ? headType : own,
    };
    return undefined;
  }

  function placeWorkerCounts(): void {
    const { min_workers: min, initial_workers: initial, worker_default_node_type: named } = value;
    const target = typeof named === 'string' ? named : legacyWorkerType;
    for (const key of ['min_workers', 'initial_workers', 'worker_default_node_type'] as const) delete value[key];
    const types = isMap(value.available_node_types) ? value.available_node_types : undefined;
    const type = types && ownValue(types, target);
    if (named !== undefined && 'worker_default_node_type' in (source.value as PlainMap)) {
      if (types && isMap(type)) legacy(['worker_default_node_type'], 'min_workers of the node type');
      else ignored(['worker_default_node_type'], `the file has no node type '${target}'`);
    }
    const minKey = 'min_worker_nodes' in (source.value as PlainMap) ? 'min_worker_nodes' : 'min_workers';
    if (!types || !isMap(type)) {
      if (min !== undefined) ignored([minKey], 'min_workers stands in the node types today');
      if (initial !== undefined) ignored(['initial_workers'], 'the file does not say which node type it means');
      return;
    }
    const draft: Draft = { ...type };
    if (typeof min === 'number') {
      if (minKey === 'min_workers') legacy(['min_workers'], `'min_workers' of the node type`);
      const others = Object.entries(types).reduce(
        (sum, [name, each]) => sum + (name !== target && isMap(each) ? numberOr(each.min_workers, 0) : 0),
        0,
      );
      draft.min_workers = Math.max(
        numberOr(type.min_workers, 0),
        Math.min(min, numberOr(value.max_workers ?? defaults.max_workers, min)) - others,
      );
    }
    value.available_node_types = { ...types, [target]: draft };
    if (typeof initial === 'number') {
      const most = Math.min(
        numberOr(draft.max_workers, initial),
        numberOr(value.max_workers ?? defaults.max_workers, initial),
      );
      const start = Math.min(initial, most);
      if (start <= numberOr(draft.min_workers, 0)) ignored(['initial_workers'], 'min_workers is no less');
      else {
        legacy(['initial_workers'], `provider.manta.node_types.${target}.initial_workers`);
        setInitialWorkers(target, start);
      }
    }
  }

  function setInitialWorkers(type: string, count: number): void {
    const provider = value.provider;
    if (!isMap(provider)) return;
    const manta = isMap(provider.manta) ? provider.manta : {};
    const types = isMap(manta.node_types) ? manta.node_types : {};
    const given = ownValue(types, type);
    const own = isMap(given) ? given : {};
    value.provider = {
      ...provider,
      manta: { ...manta, node_types: { ...types, [type]: { initial_workers: count, ...own } } },
    };
  }

  function dropDockerInstall(): void {
    if (!isMap(value.docker) || !('install_docker' in value.docker)) return;
    const { install_docker: _, ...docker } = value.docker;
    ignored(['docker', 'install_docker'], 'initialization_commands install docker where the image has none');
    value.docker = docker;
  }
}

/** A node type on top of a launch configuration that stood for all of them. */
const over = (base: PlainMap, type: PlainMap): PlainMap => ({
  ...type,
  node_config: { ...base, ...(isMap(type.node_config) ? type.node_config : {}) },
});

const numberOr = (value: Plain | undefined, other: number): number => (typeof value === 'number' ? value : other);

/** The speed that a legacy file asks for. Six decimals are plenty, and survive being written and read again. */
export function legacySpeed(
  value: PlainMap,
): { readonly value: number; readonly from: 'autoscaling_mode' | 'target_utilization_fraction' } | undefined {
  if (value.autoscaling_mode === 'aggressive') return { value: 99999, from: 'autoscaling_mode' };
  const fraction = value.target_utilization_fraction;
  if (typeof fraction !== 'number' || Number.isNaN(fraction)) return undefined;
  const speed = Math.max(0, 1 / Math.max(fraction, 0.001) - 1);
  return { value: Math.round(speed * 1e6) / 1e6, from: 'target_utilization_fraction' };
}

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
