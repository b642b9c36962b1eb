import type { PlainMap } from './cluster.ts';
import { isMap } from './source.ts';

/** The one node type of a local cluster, as Ray names it. */
const localTypeName = 'local.cluster.node';

export interface LocalWorkers {
  readonly min: number;
  readonly max: number;
}

/** Workers of a local cluster: every host of `worker_ips`, unless the file sets a lower number; a coordinator hands out up to `max_workers`. */
export function localWorkers(file: PlainMap): LocalWorkers {
  const provider = isMap(file.provider) ? file.provider : {};
  const max = typeof file.max_workers === 'number' ? file.max_workers : undefined;
  const min = typeof file.min_workers === 'number' ? file.min_workers : undefined;
  if ('coordinator_address' in provider) return { min: min ?? 0, max: max ?? 0 };
  const hosts = Array.isArray(provider.worker_ips) ? provider.worker_ips.length : 0;
  const most = Math.min(max ?? hosts, hosts);
  return { min: Math.min(min ?? hosts, most), max: most };
}

export const localType = (workers: LocalWorkers): PlainMap => ({
  [localTypeName]: { node_config: {}, resources: {}, min_workers: workers.min, max_workers: workers.max },
});

/** A file that `ray up` has already worked out for the head: it holds the type, and is taken as it is. */
export const isPrepared = (file: PlainMap): boolean =>
  isMap(file.available_node_types) && localTypeName in file.available_node_types;
