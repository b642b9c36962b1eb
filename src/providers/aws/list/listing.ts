import {
  DescribeCapacityReservationsCommand,
  DescribeInstancesCommand,
  DescribeSpotInstanceRequestsCommand,
  type Filter,
  type Instance,
  type SpotInstanceRequest,
} from '@aws-sdk/client-ec2';
import type { Duration, Instant } from '../../../base/time/clock.ts';
import { rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { ProviderInstance } from '../../provider.ts';
import type { AwsClient } from '../client/client.ts';
import { lateRefusalOf } from '../client/refusals.ts';
import { fromAws, ofCluster } from '../tags.ts';

const mostPages = 10_000;

/** Every page, or an error: a part of the list would make instances look gone. */
export async function allPages<Page extends { readonly NextToken?: string | undefined }, Item>(
  call: string,
  ask: (token: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let token: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const answer = await ask(token);
    const items = itemsOf(answer);
    if (items === undefined) throw providerErrors.Unreachable({ call, detail: 'the response has no list' });
    found.push(...items);
    if (!answer.NextToken) return found;
    if (answer.NextToken === token)
      throw providerErrors.Unreachable({ call, detail: 'the list returned the same page twice' });
    token = answer.NextToken;
  }
  throw providerErrors.Unreachable({ call, detail: `the list has more than ${mostPages} pages` });
}

/** For one page that is throttled the pages before it are not asked for again. */
const askFor = (token: string | undefined) => (token === undefined ? 'ask' : 'askUnthrottled');

/** Instances of the region that pass the filters, each once, in any state that EC2 still shows. */
export async function describeInstances(
  aws: AwsClient,
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<readonly Instance[]> {
  const call = 'DescribeInstances';
  const reservations = await allPages(
    call,
    (NextToken) => {
      const command = new DescribeInstancesCommand({ Filters: [...filters], MaxResults: 1000, NextToken });
      return aws[askFor(NextToken)]({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ Reservations }) => Reservations,
  );
  const found = reservations.flatMap(({ Instances }) => Instances ?? []);
  const bad = found.find(({ InstanceId, State, LaunchTime }) => !InstanceId || !State?.Name || !LaunchTime);
  if (bad !== undefined) throw providerErrors.Unreachable({ call, detail: 'the response has an incomplete instance' });
  return [...new Map(found.map((each) => [each.InstanceId, each])).values()];
}

export async function describeSpotRequests(
  aws: AwsClient,
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<readonly SpotInstanceRequest[]> {
  const call = 'DescribeSpotInstanceRequests';
  return await allPages(
    call,
    (NextToken) => {
      const command = new DescribeSpotInstanceRequestsCommand({ Filters: [...filters], MaxResults: 1000, NextToken });
      return aws[askFor(NextToken)]({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ SpotInstanceRequests }) => SpotInstanceRequests,
  );
}

/** Between the notice to a spot instance and its end. */
const spotNotice: Duration = 120_000;
/** Instances of a capacity block are ended so long before the block. */
const blockMargin: Duration = 30 * 60_000;
/** When that is announced, as AWS itself does it. */
const blockNotice: Duration = 10 * 60_000;

const notices: ReadonlySet<string | undefined> = new Set(['marked-for-termination', 'marked-for-stop']);

/** A role of the user's own may lack what only notices need: instances are listed without them, and not lost from sight. */
async function unlessDenied<Item>(asked: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await asked;
  } catch (error) {
    if (providerErrors.Denied.is(error)) return [];
    throw error;
  }
}

/** When instances will be taken back, as far as AWS has said so. */
export async function announcedEnds(
  aws: AwsClient,
  clusterId: string,
  instances: readonly Instance[],
  now: Instant,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Instant>> {
  const ends = new Map<string, Instant>();
  const live = instances.filter(isLive);
  if (live.some(({ InstanceLifecycle }) => InstanceLifecycle === 'spot'))
    for (const { InstanceId: id, Status } of await unlessDenied(
      describeSpotRequests(aws, [ofCluster(clusterId)], signal),
    ))
      if (id !== undefined && notices.has(Status?.Code))
        ends.set(id, (Status?.UpdateTime?.getTime() ?? now) + spotNotice);
  const blocks = live.filter(({ InstanceLifecycle }) => InstanceLifecycle === 'capacity-block');
  if (blocks.length > 0) {
    const until = await blockEnds(
      aws,
      [...new Set(blocks.flatMap((each) => each.CapacityReservationId ?? []))],
      signal,
    );
    for (const { InstanceId: id = '', CapacityReservationId: block = '' } of blocks) {
      const end = until.get(block);
      if (end !== undefined && end - blockNotice <= now) ends.set(id, end);
    }
  }
  return ends;
}

async function blockEnds(
  aws: AwsClient,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Instant>> {
  const call = 'DescribeCapacityReservations';
  const found = await unlessDenied(
    allPages(
      call,
      (NextToken) => {
        const command = new DescribeCapacityReservationsCommand({ CapacityReservationIds: [...ids], NextToken });
        return aws[askFor(NextToken)]({ call }, (options) => aws.ec2.send(command, options), signal);
      },
      ({ CapacityReservations }) => CapacityReservations,
    ),
  );
  return new Map(
    found.flatMap(({ CapacityReservationId: id, EndDate: end }): [string, Instant][] =>
      id === undefined || end === undefined ? [] : [[id, end.getTime() - blockMargin]],
    ),
  );
}

const states = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  'shutting-down': 'stopping',
  terminated: 'stopping',
} as const;

export const isEnded = ({ State }: Instance): boolean =>
  State?.Name === 'terminated' || State?.Name === 'shutting-down';

const isLive = ({ State }: Instance): boolean => State?.Name === 'pending' || State?.Name === 'running';

/** Whether a list shows it: what has ended is gone, unless it ended before it ran. */
export const isListed = (instance: Instance): boolean =>
  instance.State?.Name !== 'terminated' || lateRefusalOf(instance.StateReason ?? {}) !== undefined;

/** Ray's mark for machines that somebody else keeps: they are neither set up nor ended. */
export const isOwn = (instance: ProviderInstance): boolean => instance.tags[rayTags.kind] !== 'unmanaged';

export function instanceOf(instance: Instance, preemptionAt?: Instant): ProviderInstance {
  const tags = fromAws(instance.Tags);
  const zone = instance.Placement?.AvailabilityZone;
  const inside = instance.PrivateIpAddress || undefined;
  const outside = instance.PublicIpAddress || undefined;
  const failed = isEnded(instance) ? lateRefusalOf(instance.StateReason ?? {}) : undefined;
  return {
    id: instance.InstanceId ?? '',
    launchToken: tags[rayTags.launchRequest] ?? '',
    type: tags[rayTags.type] ?? '',
    kind: tags[rayTags.kind] === 'head' ? 'head' : 'worker',
    state: states[instance.State?.Name ?? 'pending'],
    ...(zone !== undefined && { zone }),
    market: marketOf(instance),
    launchedAt: instance.LaunchTime?.getTime() ?? 0,
    tags,
    ...((inside ?? outside) !== undefined && {
      address: { ...(inside !== undefined && { inside }), ...(outside !== undefined && { outside }) },
    }),
    ...(preemptionAt !== undefined && { preemptionAt }),
    ...(failed && { failed }),
  };
}

function marketOf({ InstanceLifecycle: lifecycle, CapacityReservationId: reservation }: Instance) {
  if (lifecycle === 'spot') return 'spot';
  return lifecycle === 'capacity-block' || reservation ? 'reserved' : 'on-demand';
}
