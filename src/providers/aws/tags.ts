import type { Tag } from '@aws-sdk/client-ec2';
import { rayTags } from '../../core/ray-tags.ts';

export type Tags = Readonly<Record<string, string>>;

/** Ties what was made to one cluster, whatever others of that name there are. */
export const clusterIdTag = 'manta-cluster-id';

/** On everything that is made for a cluster; instances carry more. */
export const clusterTags = (cluster: string, clusterId: string): readonly { Key: string; Value: string }[] => [
  { Key: rayTags.cluster, Value: cluster },
  { Key: clusterIdTag, Value: clusterId },
];

/** As Ray does it: the name of a node is the one that consoles show. */
const nameTag = 'Name';
const longestValue = 256;

export const toAws = (tags: Tags): Tag[] =>
  Object.entries(tags).map(([key, value]) => ({
    Key: key === rayTags.name ? nameTag : key,
    Value: value.slice(0, longestValue),
  }));

export const fromAws = (tags: readonly Tag[] | undefined): Tags =>
  Object.fromEntries(
    (tags ?? []).map(({ Key: key = '', Value: value = '' }) => [key === nameTag ? rayTags.name : key, value]),
  );

/** What belongs to any cluster of this name. */
export const ofName = (cluster: string) => ({ Name: `tag:${rayTags.cluster}`, Values: [cluster] });

/** What carries the cluster's tag. */
export const ofCluster = (clusterId: string) => ({ Name: `tag:${clusterIdTag}`, Values: [clusterId] });
