/** Ray's names for what it notes on machines. A cluster that `ray up` made is recognised by them. */
export const rayTags = {
  name: 'ray-node-name',
  /** head, worker or unmanaged. */
  kind: 'ray-node-type',
  type: 'ray-user-node-type',
  status: 'ray-node-status',
  cluster: 'ray-cluster-name',
  launchHash: 'ray-launch-config',
  runtimeHash: 'ray-runtime-config',
  contentsHash: 'ray-file-mounts-contents',
  replica: 'ray-replica-index',
  launchRequest: 'ray-launch-request',
} as const;

/** How far a node is, in Ray's words, in this order. */
export const rayStatuses = [
  'uninitialized',
  'waiting-for-ssh',
  'syncing-files',
  'setting-up',
  'update-failed',
  'up-to-date',
] as const;
export type RayStatus = (typeof rayStatuses)[number];

export const rayNodeName = (cluster: string, kind: 'head' | 'worker'): string => `ray-${cluster}-${kind}`;

/** What Manta itself notes on instances of a cloud. */
export const mantaTags = {
  /** Fingerprint of what an instance was made with. A stopped one is started again only for the same. */
  launchHash: 'manta-launch-hash',
} as const;
