import type { Plain, PlainMap } from '../cluster.ts';
import type { Problem } from '../problem.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { factsOf, type ProviderTable } from '../provider-table.ts';
import type { Source } from '../source.ts';
import { copyPlain, pythonFacts, setEntry, setPythonFacts } from '../yaml/python.ts';
import { rayDefaultsOf } from './defaults.ts';
import { mergeLegacyTypes } from './legacy.ts';
import { prepareOnPremise } from './on-premise.ts';
import { RayConfigError, rayProblem, rayProblems } from './problems.ts';
import { expectMap, isTrue, type Mutable } from './truth.ts';

export type PreparedConfig = { readonly config: PlainMap } | { readonly problems: readonly Problem[] };

/**
 * What Ray's `prepare_config` makes of a file: the provider's defaults filled in, legacy node types converted, setup
 * commands joined, minimum and maximum set for each node type. Fails where Ray fails, with the position of the reason.
 */
export function prepareAsRay(source: Source, providers: ProviderTable): PreparedConfig {
  try {
    return { config: prepare(source.value, factsOf(providers, source.value)) };
  } catch (refusal) {
    if (!(refusal instanceof RayConfigError)) throw refusal;
    const { problem, path, message, hint } = refusal;
    return { problems: [rayProblem(source, problem, path, message, { hint })] };
  }
}

function prepare(value: Plain, facts: ProviderFacts | undefined): PlainMap {
  const file = expectMap(copyPlain(value), [], 'the file');
  const provider = Object.hasOwn(file, 'provider') ? expectMap(file.provider, ['provider'], 'provider') : {};
  if (facts?.ray === 'as-is') return file;
  if (facts?.ray === undefined || facts.kind !== 'own-hosts') return fillIn(file, facts);
  const { config, prepared } = prepareOnPremise(file, provider);
  return prepared ? config : fillIn(config, facts);
}

function fillIn(file: Mutable, facts: ProviderFacts | undefined): PlainMap {
  const config = withDefaults(file, facts);
  joinSetupCommands(config);
  checkContainer(config);
  fillWorkerLimits(config);
  return config;
}

function withDefaults(file: Mutable, facts: ProviderFacts | undefined): Mutable {
  if (!Object.hasOwn(file, 'provider')) {
    throw new RayConfigError(rayProblems.provider, [], "there is no 'provider'", "add 'provider:' with its 'type:'");
  }
  const type = (file.provider as PlainMap).type;
  const defaults = facts && rayDefaultsOf(facts);
  if (defaults === undefined) {
    const message = type === undefined ? "'provider' has no 'type'" : `it has no provider '${String(type)}'`;
    throw new RayConfigError(rayProblems.provider, type === undefined ? ['provider'] : ['provider', 'type'], message);
  }
  let config = replaceKeys(defaults, file);
  if (!Object.hasOwn(config, 'auth')) config.auth = {};
  const legacy = Object.hasOwn(file, 'head_node') || Object.hasOwn(file, 'worker_nodes');
  if (legacy && !Object.hasOwn(file, 'available_node_types')) config = mergeLegacyTypes(config);
  delete config.min_workers;
  for (const key of ['head_node', 'worker_nodes'])
    if (Object.hasOwn(config, key) && !isTrue(config[key])) delete config[key];
  return config;
}

/** Python's `dict.update`, with what is known of floats and keys. */
function replaceKeys(base: PlainMap, over: PlainMap): Mutable {
  const merged: Mutable = { ...base };
  for (const [key, value] of Object.entries(over)) setEntry(merged, key, value);
  const [under, upper] = [pythonFacts(base), pythonFacts(over)];
  const floats = new Set([...[...under.floats].filter((key) => !Object.hasOwn(over, key)), ...upper.floats]);
  setPythonFacts(merged, { floats, keys: upper.keys });
  return merged;
}

function joinSetupCommands(config: Mutable): void {
  for (const key of ['head_setup_commands', 'worker_setup_commands']) {
    config[key] = joined(config, 'setup_commands', key);
  }
}

function joined(config: Mutable, first: string, second: string): Plain {
  for (const key of [first, second]) {
    if (!Object.hasOwn(config, key))
      throw new RayConfigError(
        rayProblems.missing,
        [],
        `there is no '${key}', and provider '${providerType(config)}' has no default for it`,
        `add '${key}: []'`,
      );
  }
  const [a, b] = [config[first], config[second]];
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  const wrong = Array.isArray(a) ? second : first;
  throw new RayConfigError(
    rayProblems.type,
    [wrong],
    `'${wrong}' must be a list of commands`,
    "write each command as an item: '- command'",
  );
}

const providerType = (config: PlainMap): string => String((config.provider as PlainMap).type);

function checkContainer(config: Mutable): void {
  if (!Object.hasOwn(config, 'docker')) return;
  const mounts = Object.hasOwn(config, 'file_mounts')
    ? expectMap(config.file_mounts, ['file_mounts'], 'file_mounts')
    : {};
  for (const [remote, local] of Object.entries(mounts)) {
    if (typeof local !== 'string')
      throw new RayConfigError(
        rayProblems.type,
        ['file_mounts', remote],
        `the local path of the mount '${remote}' must be text`,
      );
  }
  const {
    image,
    container_name,
    head_image = image,
    worker_image = image,
  } = expectMap(config.docker, ['docker'], 'docker');
  const hasImage = isTrue(image) || (isTrue(head_image) && isTrue(worker_image));
  if (isTrue(container_name) === hasImage) return;
  const message = hasImage
    ? "there is an image under 'docker' and no 'container_name'"
    : "there is a 'container_name' under 'docker' and no image";
  throw new RayConfigError(
    rayProblems.container,
    ['docker'],
    message,
    hasImage ? "add 'container_name: ray_container'" : "add 'image:'",
  );
}

function fillWorkerLimits(config: Mutable): void {
  if (!Object.hasOwn(config, 'max_workers')) {
    throw new RayConfigError(
      rayProblems.missing,
      [],
      `there is no 'max_workers', and provider '${providerType(config)}' has no default for it`,
      "add 'max_workers:'",
    );
  }
  // Ray loops over nothing here and leaves it to its schema to refuse the empty list.
  if (config.available_node_types === '' || isEmptyList(config.available_node_types)) return;
  const types = expectMap(config.available_node_types, ['available_node_types'], 'available_node_types');
  for (const [name, value] of Object.entries(types)) {
    const type = expectMap(value, ['available_node_types', name], `the node type '${name}'`);
    if (!Object.hasOwn(type, 'min_workers')) type.min_workers = 0;
    if (!Object.hasOwn(type, 'max_workers'))
      type.max_workers = isHead(types, name, config.head_node_type) ? 0 : (config.max_workers as Plain);
  }
}

const isEmptyList = (value: Plain | undefined): boolean => Array.isArray(value) && value.length === 0;

/** The key `8` is not the text '8'. */
function isHead(types: PlainMap, name: string, head: Plain | undefined): boolean {
  return pythonFacts(types).keys.has(name) ? typeof head !== 'string' && String(head) === name : head === name;
}
