import { DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { CloudClient, CloudProvider, LastKnown, Remain } from '../clouds.ts';
import type { CloudModule } from '../descriptor.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../provider.ts';
import { AwsCalls } from './client/calls.ts';
import { completeFromPrepared } from './complete.ts';
import { taggedGroups, taggedKeys } from './end/belongings.ts';
import { cancelSpotRequests, isInstanceId, mayPersist, stopInstances, terminateInstances } from './end/ending.ts';
import { releaseMade } from './end/release.ts';
import { findRemains } from './end/remains.ts';
import { AwsLaunches } from './launch/launches.ts';
import { announcedEnds, describeInstances, instanceOf, isEnded, isListed, isOwn } from './list/listing.ts';
import { SpotNotices } from './list/notices.ts';
import { ownerOf } from './prepare/ownership.ts';
import type { PreparedAws } from './prepared.ts';
import { askPrices } from './prices.ts';
import { Tagging } from './tagging.ts';
import { fromAws, ofCluster, ofName } from './tags.ts';

export { headIdentity } from './client/credentials.ts';
export { policies } from './prepare/policies.ts';
export { planPreparation, prepare } from './prepare/prepare.ts';

/** Clusters of this name that the account shows, whatever their ids. */
export const clustersOf: NonNullable<CloudModule['clustersOf']> = async (client, signal) => {
  const { aws } = new AwsCalls(client, wallClock);
  const name = ofName(client.cluster);
  const [instances, ...rest] = await Promise.all([
    describeInstances(aws, [name], signal),
    taggedGroups(aws, name, signal),
    taggedKeys(aws, name, signal),
  ]);
  const listed = instances.filter(isListed);
  const byId = Map.groupBy(listed, ({ Tags }) => ownerOf(Tags) ?? '');
  const ids = new Set([...byId.keys(), ...rest.flat().flatMap(({ Tags }) => ownerOf(Tags) ?? [])]);
  return [...ids].map((id) => ({ id, instances: (byId.get(id) ?? []).map(({ InstanceId = '' }) => InstanceId) }));
};

export const openCloud = (client: CloudClient): CloudProvider => new AwsProvider(client);

/** For how long prices are good. */
const pricesLast: Duration = 24 * 3600_000;

/**
 * Instances of EC2. It keeps nothing that matters: tags and client tokens are the truth, so that any number of heads may
 * come and go. Everything that it launches with was prepared on the laptop.
 */
export class AwsProvider implements CloudProvider {
  readonly notices = new SpotNotices();
  readonly #calls: AwsCalls;
  readonly #launches: AwsLaunches;
  readonly #tagging: Tagging;
  /** Of the instances that the last list showed. */
  #spot: ReadonlyMap<string, boolean> = new Map();
  /** Why the last release could not delete something. */
  #refused: ReadonlyMap<string, string> = new Map();

  constructor(client: CloudClient, clock: Clock = wallClock) {
    this.#calls = new AwsCalls(client, clock);
    this.#launches = new AwsLaunches(this.#calls);
    this.#tagging = new Tagging(this.#calls);
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { aws, client, clock, young } = this.#calls;
    const found = (await describeInstances(aws, [ofCluster(client.clusterId)], signal)).filter(isListed);
    const ends = await announcedEnds(aws, client.clusterId, found, clock.now(), signal);
    young.forget(found.map(({ InstanceId: id = '' }) => id));
    this.#spot = new Map(found.map((each) => [each.InstanceId ?? '', each.InstanceLifecycle === 'spot']));
    this.notices.keep(new Set(this.#spot.keys()));
    return found
      .map((each) => instanceOf(each, this.notices.endOf(each.InstanceId ?? '', ends.get(each.InstanceId ?? ''))))
      .filter(isOwn);
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    return this.#launches.launch(request, signal);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (ids.some((id) => isInstanceId(id) && this.#spot.get(id) !== false))
      await cancelSpotRequests(this.#calls, new Set(ids), signal).catch((error: unknown) => {
        // A role that may not look at requests may still end what leaves none behind.
        if (!providerErrors.Denied.is(error) || mayPersist(this.#calls)) throw error;
      });
    await terminateInstances(this.#calls, ids, signal);
  }

  tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    return this.#tagging.tag(id, tags, signal);
  }

  stop(ids: readonly string[], signal: AbortSignal): Promise<void> {
    return stopInstances(this.#calls, ids, signal);
  }

  async learn(signal: AbortSignal): Promise<(spec: ClusterSpec) => ClusterSpec> {
    const { prepared } = this.#calls;
    if (prepared === undefined) return (spec) => spec;
    const prices = await this.#prices(prepared, signal);
    return (spec) => completeFromPrepared(spec, prepared, prices);
  }

  async lastKnown(id: string, signal: AbortSignal): Promise<LastKnown | undefined> {
    const { aws } = this.#calls;
    const call = 'DescribeInstances';
    try {
      const command = new DescribeInstancesCommand({ InstanceIds: [id] });
      const { Reservations } = await aws.ask({ call, id }, (options) => aws.ec2.send(command, options), signal);
      const instance = Reservations?.[0]?.Instances?.[0];
      if (instance === undefined) throw providerErrors.Unreachable({ call, detail: 'the response has no instance' });
      const ended = isEnded(instance);
      const reason = instance.StateReason?.Message ?? instance.StateTransitionReason;
      return { ended, tags: fromAws(instance.Tags), ...(ended && reason && { reason }) };
    } catch (error) {
      if (providerErrors.NotFound.is(error)) return undefined;
      throw error;
    }
  }

  async release(signal: AbortSignal): Promise<void> {
    this.#refused = await releaseMade(this.#calls, signal);
  }

  remains(signal: AbortSignal): Promise<readonly Remain[]> {
    return findRemains(this.#calls, this.#refused, signal);
  }

  /** Those that were prepared, or new ones after a day. Where AWS tells none, the old ones are better than nothing. */
  async #prices({ prices, region, types }: PreparedAws, signal: AbortSignal): Promise<PreparedAws['prices']['list']> {
    const { aws, client, clock } = this.#calls;
    if (clock.now() - prices.at < pricesLast) return prices.list;
    const spot =
      client.spec().nodeTypes.some(({ offers }) => offers.some(({ market }) => market === 'spot')) ||
      Object.values(types).some(({ templateSpot }) => templateSpot);
    const names = [...new Set(Object.values(types).map(({ instanceType }) => instanceType))];
    try {
      return [...(await askPrices(aws, { region, types: names, spot }, clock, signal))];
    } catch (error) {
      signal.throwIfAborted();
      if (providerErrors.Denied.is(error) || providerErrors.Unreachable.is(error)) return prices.list;
      throw error;
    }
  }
}
