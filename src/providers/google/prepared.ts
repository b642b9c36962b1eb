import * as v from 'valibot';

const madeSchema = v.object({
  kind: v.picklist(['firewall rule', 'service account', 'role', 'ssh key']),
  id: v.string(),
});

const sliceSchema = v.object({
  /** `v4-16`, also where the file gives a topology. */
  type: v.string(),
  hosts: v.number(),
  topology: v.optional(v.string()),
});

const typeSchema = v.object({
  kind: v.picklist(['compute', 'tpu']),
  /** The machine type, or the accelerator type of a slice, by its short name. */
  machine: v.string(),
  /** What one host gives to Ray, as far as Google says. */
  resources: v.record(v.string(), v.number()),
  /** Those of the file that offer it, in order of preference. */
  zones: v.array(v.string()),
  /** Of the boot disk, where the file names none. */
  sourceImage: v.optional(v.string()),
  /** How large its boot disk must be at least, in GiB, where that is known. */
  diskGb: v.optional(v.number()),
  slice: v.optional(sliceSchema),
});

const priceSchema = v.object({
  machine: v.string(),
  /** Absent: in every zone of the region. */
  zone: v.optional(v.string()),
  market: v.picklist(['on-demand', 'spot', 'reserved']),
  /** Dollars an hour. */
  price: v.number(),
});

const preparedSchema = v.object({
  format: v.literal(1),
  project: v.string(),
  region: v.string(),
  /** Of the file, or all of the region, in order of preference. */
  zones: v.array(v.string()),
  /** Of the head; absent where the file or its template names its own. */
  serviceAccount: v.optional(v.object({ email: v.string(), scopes: v.array(v.string()) })),
  /** What the metadata of instances allow. */
  sshKeys: v.object({ user: v.string(), publicKey: v.string() }),
  /** By the name of the node type. */
  types: v.record(v.string(), typeSchema),
  /** The head, where the file launches it otherwise than workers of its type. */
  head: v.optional(typeSchema),
  network: v.object({
    /** Both as partial URLs, `projects/…`; absent where every type names its own. */
    network: v.optional(v.string()),
    subnetwork: v.optional(v.string()),
    /** Whether instances get addresses of the internet. */
    external: v.boolean(),
    /** A network tag that every instance has to carry: rules of the firewall that were made here apply to it. */
    tag: v.optional(v.string()),
  }),
  /** What was made for this cluster, and goes with it: rules by name, accounts by address, roles and keys by their path. */
  made: v.array(madeSchema),
  /** Whether any file of the cluster so far had slices, and slices that wait: they may still be there. */
  hadSlices: v.optional(v.boolean()),
  hadQueued: v.optional(v.boolean()),
  /** Where instances take keys of OS Login alone: who logs in. */
  osLogin: v.optional(v.object({ user: v.string() })),
  loginUser: v.optional(v.string()),
  /** Whether a worker may delete itself with the token of its machine. */
  leaseDeletes: v.boolean(),
  prices: v.object({ at: v.number(), list: v.array(priceSchema) }),
});

/** What `prepare` found or made at Google for one cluster. Kept in the cluster's record, and all that the head knows. */
export type PreparedGoogle = v.InferOutput<typeof preparedSchema>;
export type PreparedType = v.InferOutput<typeof typeSchema>;

/** Undefined for data of another form, such as that of an earlier version: it is prepared again. */
export function readPrepared(value: unknown): PreparedGoogle | undefined {
  const read = v.safeParse(preparedSchema, value);
  return read.success ? read.output : undefined;
}
