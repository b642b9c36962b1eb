import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { nearest } from '../keys/nearest.ts';
import { canonicalHost, localTypeName } from '../local.ts';
import type { Path, Problem } from '../problem.ts';
import { adviceLimit } from '../problems.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { isMap, type Source } from '../source.ts';
import { Findings } from './findings.ts';
import { ownHostProblems as problems } from './own-host-problems.ts';
import { isPlaceholder } from './placeholders.ts';

interface Checked {
  readonly source: Source;
  readonly provider: PlainMap;
  /** The key under which the file has its workers. */
  readonly workers: string;
  /** Hosts that are named, and where. */
  readonly places: Map<string, { readonly name: string; readonly path: Path; readonly what: string }>;
  readonly found: Findings;
}

/** What the hosts of a local cluster cannot be. `provider` is that of the file with current keys. */
export function checkOwnHosts(source: Source, provider: PlainMap, facts: ProviderFacts | undefined): Problem[] {
  const found = new Findings(source);
  const manta = mapOf(provider.manta);
  if (facts?.kind !== 'own-hosts') {
    for (const key of ['pools', 'hosts'] as const)
      if (key in manta)
        found.addAtKey(problems.NotOwn, ['provider', 'manta', key], {
          key: `provider.manta.${key}`,
          provider: String(provider.type),
        });
    return found.problems;
  }
  const workers = 'worker_node_ips' in mapOf(mapOf(source.value).provider) ? 'worker_node_ips' : 'worker_ips';
  const checked: Checked = { source, provider, workers, places: new Map(), found };
  if ('head_ip' in provider) place(checked, provider.head_ip, ['provider', 'head_ip'], 'the head');
  for (const [index, host] of listOf(provider.worker_ips).entries())
    place(checked, host, ['provider', workers, index], 'one of worker_ips');
  for (const [name, pool] of Object.entries(mapOf(manta.pools))) checkPool(checked, name, mapOf(pool));
  for (const [name, settings] of Object.entries(mapOf(manta.hosts))) checkSettings(checked, name, mapOf(settings));
  checkCoordinator(checked);
  return found.problems;
}

function place({ source, found, places, workers }: Checked, host: Plain, path: Path, what: string): void {
  if (typeof host === 'string' && isPlaceholder(host)) return;
  const why = whyBad(host);
  if (why !== undefined) {
    // A `{name}` of a template is a mapping to YAML, and is reported as what it is.
    if (!isMap(host)) found.add(problems.BadHost, path, { value: JSON.stringify(host, forText), why });
    return;
  }
  const name = host as string;
  const earlier = places.get(canonicalHost(name));
  if (earlier?.what === 'the head' && path[1] === workers)
    found.add(problems.HeadIsWorker, path, { host: name, line: source.at(earlier.path).line });
  else if (earlier)
    found.add(problems.HostTwice, path, { host: name, what: earlier.what, line: source.at(earlier.path).line });
  else places.set(canonicalHost(name), { name, path, what });
}

function checkPool(checked: Checked, name: string, pool: PlainMap): void {
  const { found } = checked;
  const path = ['provider', 'manta', 'pools', name];
  const hosts = listOf(pool.hosts);
  if (name === localTypeName) found.addAtKey(problems.PoolName, path, { pool: name });
  if (hosts.length === 0) found.addAtKey(problems.PoolHosts, path, { pool: name });
  for (const [index, host] of hosts.entries()) place(checked, host, [...path, 'hosts', index], `in pool '${name}'`);
  for (const key of ['min_workers', 'max_workers'] as const) {
    const value = ownValue(pool, key);
    if (typeof value === 'number' && value > hosts.length && hosts.length > 0)
      found.addAtKey(problems.PoolLimit, [...path, key], { pool: name, key, value, hosts: hosts.length });
  }
}

function checkSettings({ found, places }: Checked, name: string, settings: PlainMap): void {
  const path = ['provider', 'manta', 'hosts', name];
  const { port } = settings;
  if (typeof port === 'number' && port > 65535) found.add(problems.BadPort, [...path, 'port'], { port });
  if ('jump' in settings && 'proxy_command' in settings) found.addAtKey(problems.TwoWaysIn, path, { host: name });
  if (typeof settings.jump === 'string' && whyBad(settings.jump) !== undefined)
    found.add(problems.BadHost, [...path, 'jump'], {
      value: JSON.stringify(settings.jump),
      why: whyBad(settings.jump) ?? '',
    });
  if (places.has(canonicalHost(name)) || isPlaceholder(name)) return;
  const names = [...places.values()].map((place) => place.name);
  found.addAtKey(problems.UnknownHost, path, {
    host: name,
    nearest: found.problems.length < adviceLimit ? nearest(name, names) : undefined,
  });
}

function checkCoordinator({ provider, found }: Checked): void {
  const address = provider.coordinator_address;
  if (typeof address !== 'string' || address === '' || isPlaceholder(address)) return;
  const without = 'head_ip' in provider ? '' : ', and without head_ip nothing can be launched';
  found.addAtKey(problems.Coordinator, ['provider', 'coordinator_address'], { address, without });
}

/** Hosts go to ssh as arguments: one that looks like an option, or like several words, must not. */
function whyBad(host: Plain): string | undefined {
  if (typeof host !== 'string') return 'is not a string';
  if (host.trim() === '') return 'is empty';
  if (host.trimStart().startsWith('-')) return "starts with '-'";
  return /[\s\p{Cc}'"`$;&|<>\\]/u.test(host.trim())
    ? 'contains characters that are not allowed in an address'
    : undefined;
}

const forText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
const mapOf = (value: Plain | undefined): PlainMap => (isMap(value) ? value : {});
const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];
