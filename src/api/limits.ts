/** Bounds of what clients may send, and of what lists hold. */
export const limits = {
  /** Body of a submission and of a request for resources, and of every other request. */
  largeBody: 2 << 20,
  smallBody: 64 << 10,
  idLength: 200,
  entrypointBytes: 64 << 10,
  runtimeEnvBytes: 1 << 20,
  metadataEntries: 1_000,
  metadataName: 1_000,
  metadataValue: 16 << 10,
  metadataBytes: 64 << 10,
  /** Names in one map of resources, and how long each may be. */
  names: 100,
  nameLength: 200,
  labelLength: 1_000,
  bundles: 1_000,
  dependencies: 1_000,
  priority: 1_000_000,
  retries: 1_000_000,
  standingBundles: 10_000,
  jobs: { usual: 100, most: 1_000 },
  users: { usual: 1_000, most: 10_000 },
  nodes: { usual: 10_000, most: 10_000 },
  events: { usual: 200, most: 2_000 },
  points: { usual: 600, most: 5_000 },
  facts: { usual: 1_000, most: 10_000 },
  /** Of each kind of demand in one answer. */
  demands: 5_000,
  /** Jobs of Ray's beside those of the queue; jobs of one node. */
  others: 1_000,
  jobsOfNode: 1_000,
  logBytes: 8 << 20,
  /** Up to here V8 looks for a text in linear time, whatever it is; beyond, one MiB of the right bytes takes over a second. */
  grepBytes: 250,
} as const;
