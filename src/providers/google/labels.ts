import { createHash } from 'node:crypto';
import { rayTags } from '../../core/ray-tags.ts';

export type GoogleLabels = Readonly<Record<string, string>>;

/** Ties what was made to one cluster, whatever others of that name there are. */
export const clusterIdTag = 'manta-cluster-id';

/**
 * GoogleLabels hold small letters, digits, `_` and `-`, 63 of them. What they cannot hold is written behind a mark, with `_` and two
 * digits for every other byte; what is too long even so is known by its hash alone.
 */
const plain = /^[a-z0-9_-]{0,63}$/;
const mark = 'x__';
const hashMark = 'h__';
const longest = 63;

export const toLabel = (text: string): string =>
  plain.test(text) && !text.startsWith(mark) && !text.startsWith(hashMark) ? text : marked(text);

function marked(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    const letter = String.fromCharCode(byte);
    return /[a-z0-9-]/.test(letter) ? letter : `_${byte.toString(16).padStart(2, '0')}`;
  });
  const written = `${mark}${bytes.join('')}`;
  if (written.length <= longest) return written;
  return `${hashMark}${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

export function fromLabel(label: string): string {
  if (!label.startsWith(mark)) return label;
  const bytes = label
    .slice(mark.length)
    .replaceAll(/_([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** Keys begin with a letter. */
const keyOf = (key: string): string => (/^[a-z]/.test(key) ? toLabel(key) : marked(key));

export const toLabels = (tags: GoogleLabels): GoogleLabels =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [keyOf(key), toLabel(value)]));

/** `known`: texts that a label may stand for by their hash, such as the names of node types. */
export function fromLabels(labels: GoogleLabels | undefined, known: readonly string[] = []): GoogleLabels {
  const long = new Map(known.map((text) => [toLabel(text), text]));
  return Object.fromEntries(
    Object.entries(labels ?? {}).map(([key, value]) => [fromLabel(key), long.get(value) ?? fromLabel(value)]),
  );
}

/** On everything that is made for a cluster; instances carry more. */
export const clusterLabels = (cluster: string, clusterId: string): GoogleLabels =>
  toLabels({ [rayTags.cluster]: cluster, [clusterIdTag]: clusterId });

/** What carries the cluster's label, as filters of Compute Engine have it. */
export const ofCluster = (clusterId: string): string => `labels.${clusterIdTag} = "${toLabel(clusterId)}"`;

/** What belongs to any cluster of this name. */
export const ofName = (cluster: string): string => `labels.${rayTags.cluster} = "${toLabel(cluster)}"`;
