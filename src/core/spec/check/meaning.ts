import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { nearest } from '../keys/nearest.ts';
import type { Modern } from '../legacy/modernise.ts';
import { legacyWorkerType } from '../legacy/node-types.ts';
import { isPrepared, localTypes, localWorkers, workerHosts } from '../local.ts';
import { mantaSpec } from '../manta.ts';
import { mapOf, numberOf } from '../plain.ts';
import type { Path, Problem } from '../problem.ts';
import { adviceLimit, listed, pathText } from '../problems.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { factsOf, type ProviderTable } from '../provider-table.ts';
import { isMap, type Source } from '../source.ts';
import { Findings } from './findings.ts';
import { meaningProblems as problems } from './meaning-problems.ts';
import { checkOwnHosts } from './own-hosts.ts';
import { isPlaceholder } from './placeholders.ts';
import { isNothing } from './structure.ts';
import { structureProblems } from './structure-problems.ts';

interface Checked {
  /** The file in current keys. */
  readonly modern: Modern;
  readonly file: PlainMap;
  /** The file as it is written. */
  readonly raw: PlainMap;
  readonly provider: PlainMap;
  /** Those of the provider. */
  readonly defaults: PlainMap;
  /** The provider is one that Manta knows. */
  readonly known: boolean;
  readonly facts: ProviderFacts | undefined;
  readonly found: Findings;
}

/** What a file says that cannot be, whatever its era. `modern` is its current form; positions are those of the file itself. */
export function checkMeaning(source: Source, modern: Modern, defaults: PlainMap, providers: ProviderTable): Problem[] {
  const found = new Findings(source);
  const file = modern.value;
  const provider = mapOf(file.provider);
  const facts = factsOf(providers, file);
  const raw = source.value as PlainMap;
  const known = checkProvider(provider, facts, providers, found);
  const checked: Checked = { modern, file, raw, provider, defaults, known, facts, found };
  const local = facts?.kind === 'own-hosts' && !isPrepared(file);
  if (known && local) checkLocal(checked);
  if (!local) {
    checkTypes(checked);
    checkLimits(checked);
  }
  if (known && !local) {
    checkWhatRayRefuses(checked);
    if (defaults.cluster_name === undefined && !('cluster_name' in raw))
      found.add(structureProblems.MissingKey, [], { key: 'cluster_name', example: '`cluster_name: training`' });
  }
  found.problems.push(...checkOwnHosts(source, provider, facts));
  checkLegacyNodes(checked);
  checkDocker(checked);
  checkProxy(checked);
  return found.problems;
}

/** Whether the provider is one that Manta knows. */
function checkProvider(
  provider: PlainMap,
  facts: ProviderFacts | undefined,
  { names }: ProviderTable,
  found: Findings,
): boolean {
  const { type } = provider;
  if (typeof type !== 'string' || isPlaceholder(type)) return false;
  if (facts === undefined)
    found.add(problems.ProviderUnknown, ['provider', 'type'], { type, nearest: nearest(type, names), known: names });
  else if (facts.removed) found.add(problems.ProviderRemoved, ['provider', 'type'], { type, ...facts.removed });
  else return true;
  return false;
}

function checkLocal({ file, raw, provider, found }: Checked): void {
  if (isMap(file.available_node_types) && Object.keys(file.available_node_types).length > 0) {
    found.addAtKey(problems.LocalNodeTypes, ['available_node_types'], { key: 'available_node_types' });
  }
  if ('coordinator_address' in provider && !('head_ip' in provider)) {
    if (numberOf(file.max_workers) === undefined && !('max_workers' in raw))
      found.add(problems.LocalHosts, ['provider'], { missing: 'max_workers with coordinator_address' });
    return;
  }
  const missing = [
    ...('head_ip' in provider ? [] : ['provider.head_ip']),
    ...('worker_ips' in provider ? [] : ['provider.worker_ips']),
  ];
  if (missing.length > 0) found.add(problems.LocalHosts, ['provider'], { missing: missing.join(' and ') });
  if (!Array.isArray(provider.worker_ips)) return;
  const { pools: given } = mantaSpec(provider.manta);
  const workers = localWorkers(file, given);
  const listed = workerHosts(provider).length;
  const pools = Object.values(localTypes(workers, given)).slice(1).map(mapOf);
  const total = (key: string): number => pools.reduce((sum, pool) => sum + (numberOf(pool[key]) ?? 0), 0);
  const most = listed + total('max_workers');
  const least = workers.min + total('min_workers');
  const limit = (key: string, value: number, hosts: number, effect: string): void =>
    found.addAtKey(problems.LocalLimit, [key], {
      key,
      value,
      hosts,
      pools: pools.length > 0 && key !== 'min_workers',
      effect,
    });
  const max = numberOf(file.max_workers);
  const min = numberOf(file.min_workers);
  if (max !== undefined && max > most) limit('max_workers', max, most, `using ${most}`);
  if (max !== undefined && max < (pools.length > 0 ? least : most))
    limit('max_workers', max, most, `only ${workers.maxWorkers} of them become workers`);
  if (min !== undefined && min > listed) limit('min_workers', min, listed, `using ${workers.min}`);
}

/** Of a provider that is not known neither the default types are, nor how it names its head. */
function checkTypes({ modern, defaults, file, provider, known, found }: Checked): void {
  const written = 'available_node_types' in file;
  const types = mapOf(written ? file.available_node_types : defaults.available_node_types);
  const names = written ? modern.typeNames : Object.keys(types);
  const named = file.head_node_type;
  const expected = String(defaults.head_node_type ?? '');
  if (names.length === 0 && !known) return;
  if (names.length === 0)
    found.add(structureProblems.MissingKey, [], { key: 'available_node_types', example: undefined });
  else if (typeof named === 'string' && !Object.hasOwn(types, named) && !isPlaceholder(named)) {
    found.add(problems.UnknownHeadType, ['head_node_type'], {
      type: named,
      types: names,
      nearest: nearest(named, names),
    });
  } else if (known && named === undefined && !Object.hasOwn(types, expected)) {
    found.addAtKey(problems.HeadTypeMissing, ['available_node_types'], { types: names, expected });
  }
  for (const name of mantaSpec(provider.manta).nodeTypes.keys()) {
    if (Object.hasOwn(types, name)) continue;
    const path = ['provider', 'manta', 'node_types', name];
    found.addAtKey(problems.UnknownType, path, {
      type: name,
      key: 'provider.manta.node_types',
      types: names,
      nearest: found.problems.length < adviceLimit ? nearest(name, names) : undefined,
    });
  }
}

/** Manta fills these in; the file stays usable with `ray up` only when it has them. */
function checkWhatRayRefuses({ raw, facts, found }: Checked): void {
  const completed = facts?.kind === 'cloud' && facts.completesResources === true;
  for (const [name, type] of Object.entries(mapOf(raw.available_node_types))) {
    if (!isMap(type)) continue;
    const path = ['available_node_types', name];
    const missing = ['resources', 'node_config'].find((key) => !(key in type) && !(key === 'resources' && completed));
    if (missing !== undefined)
      found.addAtKey(structureProblems.RayRefuses, path, {
        what: pathText(path),
        why: `has no ${missing}`,
        write: `${missing}: {}`,
      });
    for (const [resource, amount] of Object.entries(mapOf(type.resources))) {
      if (typeof amount !== 'number' || Number.isInteger(amount)) continue;
      const here = [...path, 'resources', resource];
      found.add(structureProblems.RayRefuses, here, {
        what: pathText(here),
        why: `is ${amount}, not a whole number`,
        write: undefined,
      });
    }
  }
}

function checkLimits({ defaults, file, raw, known, found }: Checked): void {
  const types = mapOf(file.available_node_types);
  const ceiling = numberOf(file.max_workers ?? (known ? defaults.max_workers : undefined));
  const implied = file.max_workers === undefined ? ' (the default)' : '';
  const floors = Object.entries(types).map(([name, type]) => ({
    name,
    type: mapOf(type),
    min: numberOf(mapOf(type).min_workers) ?? 0,
  }));
  for (const { name, type, min } of floors) {
    const isHead = name === (file.head_node_type ?? defaults.head_node_type);
    const given = numberOf(type.max_workers);
    const max = given ?? (isHead ? 0 : undefined);
    if (max === undefined || min <= max) continue;
    found.addAtKey(problems.MinAboveMax, minPath(name), {
      type: name,
      min,
      max,
      implied: given === undefined ? " (the default for the head's type is 0)" : '',
    });
  }
  const sum = floors.reduce((total, each) => total + each.min, 0);
  if (ceiling === undefined || sum <= ceiling) return;
  const asking = floors.filter((each) => each.min > 0);
  const parts = listed(asking.map((each) => `${each.name} ${each.min}`));
  const path = 'max_workers' in raw ? ['max_workers'] : minPath(asking[0]?.name ?? '');
  found.addAtKey(problems.MinSumAboveMax, path, { sum, max: ceiling, parts, implied });
}

/** Where the file says how many workers a type has at least. */
function minPath(type: string): Path {
  return type === legacyWorkerType ? ['min_workers'] : ['available_node_types', type, 'min_workers'];
}

/** Some files say `head_node: true`, and Ray takes any kind of nothing; a list or a text is a mistake. */
function checkLegacyNodes({ raw, found }: Checked): void {
  for (const key of ['head_node', 'worker_nodes'] as const) {
    const value = ownValue(raw, key);
    if (!Array.isArray(value) && typeof value !== 'string' && typeof value !== 'number') continue;
    if (isNothing(value)) continue;
    const data = {
      what: key,
      wanted: 'a mapping',
      got: Array.isArray(value) ? 'a list' : 'a single value',
      value: '',
    };
    found.add(structureProblems.WrongType, [key], data);
  }
}

function checkDocker({ file, found }: Checked): void {
  const docker = mapOf(file.docker);
  const given = (key: string): boolean => typeof docker[key] === 'string' && docker[key] !== '';
  const image = given('image') || (given('head_image') && given('worker_image'));
  const name = given('container_name');
  if (image === name) return;
  const data = image
    ? { has: 'an image', missing: 'container_name' }
    : { has: 'a container_name', missing: 'image for head and workers' };
  found.addAtKey(problems.DockerIncomplete, ['docker'], data);
}

function checkProxy({ file, found }: Checked): void {
  const auth: Record<string, Plain> = mapOf(file.auth);
  if (auth.ssh_proxy_use_node_id === true && !('ssh_proxy_command' in auth))
    found.addAtKey(problems.ProxyWithoutCommand, ['auth', 'ssh_proxy_use_node_id'], {});
}
