import { createHash } from 'node:crypto';

/**
 * The name under which a browser sees a cluster among others: `<cluster>.localhost`, an origin of its own, which browsers
 * lead to this machine and nobody can lead elsewhere. A name that is no label of a host gets one that is.
 */
export function clusterHost(cluster: string): string {
  const plain = cluster.toLowerCase();
  if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(plain)) return `${plain}.localhost`;
  const mark = createHash('sha256').update(plain).digest('hex').slice(0, 8);
  const label = plain.replace(/[^a-z0-9]+/g, '-').slice(0, 50);
  return `${label.replace(/^-+|-+$/g, '')}-${mark}.localhost`;
}
