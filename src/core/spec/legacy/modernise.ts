import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import type { Path, Problem } from '../problem.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { isMap, type Source } from '../source.ts';
import { type Draft, LegacyDraft } from './draft.ts';
import { shapeNodeTypes, typeNamesOf } from './node-types.ts';
import { placeWorkerCounts } from './worker-counts.ts';

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

export interface Modern {
  /** The file with current keys, before any default. */
  readonly value: PlainMap;
  /** Of its node types, in the order of the file, which the mapping itself loses for names such as `8`. */
  readonly typeNames: readonly string[];
  /** The head's own launch configuration, where the file has one beside its node types. */
  readonly headLaunchConfig?: PlainMap;
  readonly problems: readonly Problem[];
}

/**
 * A file of any era with current keys: what legacy keys meant in their day, each with a warning that names the modern
 * form. `defaults` are those of the provider. Values of the wrong type are left for the structural check.
 */
export function modernise(source: Source, defaults: PlainMap, facts: ProviderFacts | undefined): Modern {
  const file = new LegacyDraft(source, defaults);
  const { value } = file;
  const isLocal = facts?.kind === 'own-hosts';
  renameKeys(file);
  mergeSharedStart(file);
  setSpeed(file);
  if (isLocal) dropNodes(file);
  const headLaunchConfig = isLocal ? undefined : shapeNodeTypes(file);
  if (!isLocal) placeWorkerCounts(file);
  dropDockerInstall(file);
  const modern = { value, typeNames: typeNamesOf(file), problems: file.problems };
  return headLaunchConfig === undefined ? modern : { ...modern, headLaunchConfig };
}

function renameKeys(file: LegacyDraft): void {
  for (const [old, modern] of Object.entries(renamed)) rename(file, file.value, old, modern, []);
  if (isMap(file.value.provider) && 'worker_node_ips' in file.value.provider) {
    const provider: Draft = { ...file.value.provider };
    rename(file, provider, 'worker_node_ips', 'worker_ips', ['provider']);
    file.value.provider = provider;
  }
  if (!isMap(file.value.available_node_types)) return;
  const types: Draft = { ...file.value.available_node_types };
  for (const [name, type] of Object.entries(types)) {
    if (!isMap(type)) continue;
    const draft: Draft = { ...type };
    rename(file, draft, 'setup_commands', 'worker_setup_commands', ['available_node_types', name]);
    for (const count of ['min', 'max'])
      rename(file, draft, `${count}_worker_nodes`, `${count}_workers`, ['available_node_types', name]);
    types[name] = draft;
  }
  file.value.available_node_types = types;
}

function rename(file: LegacyDraft, draft: Draft, old: string, modern: string, parent: Path): void {
  if (!Object.hasOwn(draft, old)) return;
  const given = ownValue(draft, old) as Plain;
  delete draft[old];
  if (Object.hasOwn(draft, modern)) {
    file.ignored([...parent, old], `the file also has '${modern}'`);
    return;
  }
  draft[modern] = given;
  file.legacy([...parent, old], `'${modern}'`);
}

function mergeSharedStart(file: LegacyDraft): void {
  for (const key of sharedStart) {
    if (!Object.hasOwn(file.value, key)) continue;
    const given = ownValue(file.value, key);
    const shared = typeof given === 'string' ? [given] : given;
    delete file.value[key];
    file.legacy([key], startKeys.join(' and '));
    if (!Array.isArray(shared)) continue;
    for (const own of startKeys) {
      const rest = ownValue(file.value, own) ?? ownValue(file.defaults, own);
      if (Array.isArray(rest)) file.value[own] = [...(shared as readonly Plain[]), ...(rest as readonly Plain[])];
    }
  }
}

function setSpeed(file: LegacyDraft): void {
  const speed = legacySpeed(file.value);
  for (const key of ['autoscaling_mode', 'target_utilization_fraction'] as const) {
    if (!Object.hasOwn(file.value, key)) continue;
    if (file.value.upscaling_speed !== undefined) file.ignored([key], "the file also has 'upscaling_speed'");
    else if (speed?.from === key) file.legacy([key], `'upscaling_speed: ${speed.value}'`);
    else file.ignored([key], speed === undefined ? 'it is the default now' : `'${speed.from}' overrides it`);
  }
  if (file.value.upscaling_speed === undefined && speed !== undefined) file.value.upscaling_speed = speed.value;
  delete file.value.autoscaling_mode;
  delete file.value.target_utilization_fraction;
}

function dropNodes(file: LegacyDraft): void {
  for (const key of ['head_node', 'worker_nodes'] as const) {
    if (!Object.hasOwn(file.value, key)) continue;
    file.ignored([key], 'the hosts of a local cluster are listed under provider');
    delete file.value[key];
  }
  for (const key of ['initial_workers', 'worker_default_node_type', 'head_node_type'] as const) {
    if (!Object.hasOwn(file.value, key) || (key === 'head_node_type' && 'available_node_types' in file.value)) continue;
    file.ignored([key], 'every host in worker_ips is a worker from the start');
    delete file.value[key];
  }
}

function dropDockerInstall(file: LegacyDraft): void {
  if (!isMap(file.value.docker) || !('install_docker' in file.value.docker)) return;
  const { install_docker: _, ...docker } = file.value.docker;
  file.ignored(
    ['docker', 'install_docker'],
    'use initialization_commands to install docker if the image does not have it',
  );
  file.value.docker = docker;
}

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
