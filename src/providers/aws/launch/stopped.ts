import { CreateTagsCommand, type Instance, StartInstancesCommand } from '@aws-sdk/client-ec2';
import { mantaTags, rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { ProviderInstance } from '../../provider.ts';
import { inHalves } from '../client/batches.ts';
import type { AwsCalls } from '../client/calls.ts';
import { describeInstances, instanceOf } from '../list/listing.ts';
import { fromAws, ofCluster, toAws } from '../tags.ts';
import type { LaunchPlan } from './launch-request.ts';

/** What leaves an instance as it was: new ones are made in its place. */
const refusals = [providerErrors.NoCapacity, providerErrors.Quota, providerErrors.NotFound, providerErrors.Denied];

/** Instances that were stopped to be started again in place of new ones. */
export class StoppedInstances {
  readonly #calls: AwsCalls;
  /** By the token that they were taken for: lists may show the earlier one for a while. */
  readonly #taken = new Map<string, string>();

  constructor(calls: AwsCalls) {
    this.#calls = calls;
  }

  /**
   * Starts as many as the launch asks for, of its type and launch hash. They carry its token before they are started, so that
   * the same launch again finds them. `fresh`: the client tokens under which it makes others.
   */
  async start(plan: LaunchPlan, fresh: ReadonlySet<string>, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { request, tags } = plan;
    const { clusterId } = this.#calls.client;
    const made = tags[mantaTags.launchHash];
    const known = await describeInstances(
      this.#calls.aws,
      [
        ofCluster(clusterId),
        { Name: `tag:${rayTags.type}`, Values: [request.type] },
        ...(made === undefined ? [] : [{ Name: `tag:${mantaTags.launchHash}`, Values: [made] }]),
        { Name: 'instance-state-name', Values: ['pending', 'running', 'stopped'] },
        ...(plan.zone === undefined ? [] : [{ Name: 'availability-zone', Values: [plan.zone] }]),
      ],
      signal,
    );
    const tokenOf = (each: Instance): string =>
      this.#taken.get(each.InstanceId ?? '') ?? fromAws(each.Tags)[rayTags.launchRequest] ?? '';
    const ofThis = known.filter((each) => tokenOf(each) === request.token);
    const mine = ofThis.filter((each) => !fresh.has(each.ClientToken ?? ''));
    const free = known.filter((each) => isStopped(each) && !each.InstanceLifecycle && !ofThis.includes(each));
    const taken = free.slice(0, Math.max(0, request.count - ofThis.length));
    for (const { InstanceId: id = '' } of taken) this.#taken.set(id, request.token);
    await this.#tag(taken, request.token, signal);
    const failed = await this.#startAll([...mine.filter(isStopped), ...taken], signal);
    for (const each of taken.filter(({ InstanceId: id = '' }) => failed.has(id))) {
      this.#taken.delete(each.InstanceId ?? '');
      await this.#tag([each], fromAws(each.Tags)[rayTags.launchRequest] ?? '', signal);
    }
    return [...mine, ...taken]
      .filter(({ InstanceId: id = '' }) => !failed.has(id))
      .map((each) => {
        const { state, tags: shown, ...instance } = instanceOf(each);
        return {
          ...instance,
          launchToken: request.token,
          state: state === 'stopped' ? 'pending' : state,
          tags: { ...shown, [rayTags.launchRequest]: request.token },
        };
      });
  }

  async #tag(instances: readonly Instance[], token: string, signal: AbortSignal): Promise<void> {
    if (instances.length === 0) return;
    const { aws } = this.#calls;
    const command = new CreateTagsCommand({
      Resources: instances.map(({ InstanceId: id = '' }) => id),
      Tags: toAws({ [rayTags.launchRequest]: token }),
    });
    await aws.ask({ call: 'CreateTags' }, (options) => aws.ec2.send(command, options), signal);
  }

  /** Ids of those that cannot be started: there is no room for them, somebody was faster, or they will never start again. */
  async #startAll(instances: readonly Instance[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { aws } = this.#calls;
    const failed = new Set<string>();
    await inHalves(
      instances.map(({ InstanceId: id = '' }) => id),
      async (ids) => {
        const command = new StartInstancesCommand({ InstanceIds: [...ids] });
        await aws.ask({ call: 'StartInstances', id: ids[0]! }, (options) => aws.ec2.send(command, options), signal);
      },
      (error) => refusals.some((kind) => kind.is(error)),
      (id) => failed.add(id),
    );
    return failed;
  }
}

const isStopped = ({ State }: Instance): boolean => State?.Name === 'stopped';
