import type { Plain, PlainMap } from '../cluster.ts';
import { isMap } from '../source.ts';
import { RayConfigError, rayProblems } from './problems.ts';
import { isTrue, kindOf, type Mutable } from './truth.ts';

/** The one node type of provider local. */
export const ON_PREMISE_TYPE = 'local.cluster.node';

/** Gives a file of provider local its node type. `prepared`: the file was already prepared, and stays as it is. */
export function prepareOnPremise(file: Mutable, provider: PlainMap): { config: Mutable; prepared: boolean } {
  for (const key of ['head_node', 'worker_nodes', 'available_node_types']) {
    if (!isTrue(file[key])) continue;
    if (key === 'available_node_types' && holdsOwnType(file[key])) return { config: file, prepared: true };
    throw new RayConfigError(
      rayProblems.onPremise,
      [key],
      `provider local takes no '${key}'`,
      `remove '${key}': all hosts are of one type`,
    );
  }
  const type: Mutable = { node_config: {}, resources: {} };
  file.available_node_types = { [ON_PREMISE_TYPE]: type };
  file.head_node_type = ON_PREMISE_TYPE;
  if (Object.hasOwn(provider, 'coordinator_address')) limitByFile(file, type);
  else limitByHosts(file, provider, type);
  return { config: file, prepared: false };
}

function holdsOwnType(types: Plain | undefined): boolean {
  if (isMap(types)) return Object.hasOwn(types, ON_PREMISE_TYPE);
  return (Array.isArray(types) || typeof types === 'string') && types.includes(ON_PREMISE_TYPE);
}

function limitByFile(file: Mutable, type: Mutable): void {
  if (!Object.hasOwn(file, 'max_workers')) {
    throw new RayConfigError(
      rayProblems.onPremise,
      ['provider', 'coordinator_address'],
      "a cluster with a coordinator needs 'max_workers'",
      "add 'max_workers:'",
    );
  }
  type.min_workers = Object.hasOwn(file, 'min_workers') ? (file.min_workers as Plain) : 0;
  delete file.min_workers;
  type.max_workers = file.max_workers as Plain;
}

/** Every host that is listed is wanted, unless the file says less; never more than there are. */
function limitByHosts(file: Mutable, provider: PlainMap, type: Mutable): void {
  if (!Object.hasOwn(provider, 'worker_ips') || !Object.hasOwn(provider, 'head_ip')) {
    throw new RayConfigError(
      rayProblems.onPremise,
      ['provider'],
      "'head_ip' and 'worker_ips' are needed, or 'coordinator_address'",
      "add 'head_ip:' and 'worker_ips: [...]' under provider",
    );
  }
  const hosts = lengthOf(provider.worker_ips);
  if (!Object.hasOwn(file, 'max_workers')) file.max_workers = hosts;
  const wanted = (key: 'min_workers' | 'max_workers'): Plain =>
    atMost(Object.hasOwn(file, key) ? (file[key] as Plain) : hosts, hosts, key);
  type.min_workers = wanted('min_workers');
  delete file.min_workers;
  type.max_workers = wanted('max_workers');
  if (isMore(file.max_workers as Plain, hosts)) file.max_workers = hosts;
}

function lengthOf(hosts: Plain | undefined): number {
  if (Array.isArray(hosts)) return hosts.length;
  if (isMap(hosts)) return Object.keys(hosts).length;
  if (typeof hosts === 'string') return [...hosts].length;
  throw new RayConfigError(
    rayProblems.onPremise,
    ['provider', 'worker_ips'],
    `'worker_ips' must be a list, found ${kindOf(hosts)}`,
    "write 'worker_ips: []' for a head alone",
  );
}

const isMore = (value: Plain, hosts: number): boolean => Number(value) > hosts;

function atMost(value: Plain, hosts: number, key: string): Plain {
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') {
    throw new RayConfigError(rayProblems.type, [key], `'${key}' must be a whole number, found ${kindOf(value)}`);
  }
  return isMore(value, hosts) ? hosts : value;
}
