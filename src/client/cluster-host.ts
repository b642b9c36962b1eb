import { createHash } from 'node:crypto';

/** The name of the page that lists all clusters; none of them has it. */
export const listHost = 'all-clusters.localhost';

/**
 * The name under which a browser sees a cluster among others: `<cluster>.localhost`, an origin of its own, which browsers
 * lead to this machine and nobody can lead elsewhere. A name that is not a host label gets one that is; capital letters
 * are none, for a browser takes them for small ones.
 */
export function clusterHost(cluster: string): string {
  const own = `${cluster}.localhost`;
  if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(cluster) && own !== listHost) return own;
  const mark = createHash('sha256').update(cluster).digest('hex').slice(0, 8);
  const label = cluster.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${label.slice(0, 50).replace(/^-|-$/g, '')}-${mark}.localhost`;
}
