import * as v from 'valibot';

const subnetSchema = v.object({ id: v.string(), zone: v.string() });

const typeSchema = v.object({
  instanceType: v.string(),
  image: v.string(),
  /** The launch template names the image, and a launch leaves it to that. */
  templateImage: v.optional(v.literal(true)),
  /** The launch template asks for spot instances, and the file does not say otherwise. */
  templateSpot: v.optional(v.literal(true)),
  /** The device that the image boots from. */
  rootDevice: v.optional(v.string()),
  /** Dollars an hour for one that is stopped; absent where that is not known, or none is ever stopped. */
  stoppedPerHour: v.optional(v.number()),
  /** What it gives to Ray, as far as AWS says. */
  resources: v.record(v.string(), v.number()),
  /** Where it may go, in order of preference, those of the file too; absent where it has interfaces of its own. */
  subnets: v.optional(v.array(subnetSchema)),
  /** Security groups of the type; absent where `node_config` or its template names its own. */
  groups: v.optional(v.array(v.string())),
  /** The key pair that instances accept; absent where the file names one itself. */
  keyName: v.optional(v.string()),
  /** Of the launch template, decoded: it is joined by what Manta itself runs at the first boot. */
  templateUserData: v.optional(v.string()),
});

const priceSchema = v.object({
  instanceType: v.string(),
  /** Absent: in every zone of the region. */
  zone: v.optional(v.string()),
  market: v.picklist(['on-demand', 'spot', 'reserved']),
  /** Dollars an hour. */
  price: v.number(),
});

const preparedSchema = v.object({
  format: v.literal(1),
  region: v.string(),
  account: v.string(),
  /** By the name of the node type. */
  types: v.record(v.string(), typeSchema),
  /** The head, where the file launches it otherwise than workers of its type. */
  head: v.optional(typeSchema),
  /** The instance profile of the head, as RunInstances takes it. */
  headProfile: v.optional(v.object({ Arn: v.optional(v.string()), Name: v.optional(v.string()) })),
  /** When that profile was made, if Manta made it: EC2 does not know a new one for some seconds. */
  profileMadeAt: v.optional(v.number()),
  prices: v.object({ at: v.number(), list: v.array(priceSchema) }),
});

/** What `prepare` found or made in AWS for one cluster. Kept in the cluster's record, and all that the head knows. */
export type PreparedAws = v.InferOutput<typeof preparedSchema>;
export type PreparedAwsType = v.InferOutput<typeof typeSchema>;
export type AwsPrice = v.InferOutput<typeof priceSchema>;

/** Undefined for data of another form, such as that of an earlier version: it is prepared again. */
export function readPrepared(value: unknown): PreparedAws | undefined {
  const read = v.safeParse(preparedSchema, value);
  return read.success ? read.output : undefined;
}
