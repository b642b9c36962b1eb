import { clusterIdTag } from '../tags.ts';

interface AwsTag {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

/** The cluster that something was made for; undefined for what Manta did not make. */
export const ownerOf = (tags: readonly AwsTag[] | undefined): string | undefined =>
  tags?.find(({ Key }) => Key === clusterIdTag)?.Value;

/** Tells clusters of one name apart in names. */
export const shortId = (clusterId: string): string => clusterId.replace(/[^A-Za-z0-9]/g, '').slice(0, 8);

/** Names of IAM take few characters. */
export const roleName = (cluster: string, suffix: string): string =>
  `manta-${cluster.replace(/[^\w+=,.@-]/g, '-').slice(0, 48)}-${suffix}`;

/** Of the role that Manta makes for a head, and of its instance profile. */
export const headRoleName = ({
  cluster,
  clusterId,
}: {
  readonly cluster: string;
  readonly clusterId: string;
}): string => roleName(cluster, shortId(clusterId));
