import { type Instance, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { messageOf } from '../../../base/errors.ts';
import { rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../provider.ts';
import { onceKnown } from '../../young.ts';
import type { AwsCalls } from '../client/calls.ts';
import { awsCode } from '../client/refusals.ts';
import { describeInstances, instanceOf, isEnded } from '../list/listing.ts';
import { ofCluster } from '../tags.ts';
import { clientToken, type LaunchPlan, planLaunch } from './launch-request.ts';
import { StoppedInstances } from './stopped.ts';

const mostPerCall = 100;

/** What EC2 may not know yet although it was made, by its code. */
const youngThings: ReadonlyMap<string, 'groups' | 'keyName'> = new Map([
  ['InvalidGroup.NotFound', 'groups'],
  ['InvalidKeyPair.NotFound', 'keyName'],
]);

/** One call of a launch. */
interface Part {
  readonly token: string;
  readonly count: number;
  /** Where others are made, one that is throttled is not refused: it is made again, a little later. */
  readonly patient: boolean;
}

/** Launches of one cluster. */
export class AwsLaunches {
  readonly #calls: AwsCalls;
  readonly #stopped: StoppedInstances;
  /** A launch has worked: what it uses is known everywhere. */
  #settled = false;

  constructor(calls: AwsCalls) {
    this.#calls = calls;
    this.#stopped = new StoppedInstances(calls);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    if (request.slice !== undefined)
      throw providerErrors.Denied({ call: 'launch', detail: 'AWS has no slices of several hosts' });
    const { client } = this.#calls;
    const plan = planLaunch(client, request);
    if (mayMove(plan)) {
      const earlier = await this.#madeFor(
        plan,
        { Name: `tag:${rayTags.launchRequest}`, Values: [request.token] },
        signal,
      );
      if (earlier.length > 0) return answerOf(plan, earlier);
    }
    const tokens = Array.from({ length: Math.ceil(request.count / mostPerCall) }, (_, part) =>
      clientToken(client, plan, part),
    );
    const restarted = this.#restarts(plan) ? await this.#stopped.start(plan, new Set(tokens), signal) : [];
    const rest = request.count - restarted.length;
    const answers = await Promise.allSettled(
      tokens
        .map((token, part) => ({ token, count: Math.min(mostPerCall, rest - part * mostPerCall) }))
        .filter(({ count }) => count > 0)
        .map((part) => this.#run(plan, { ...part, patient: tokens.length > 1 || restarted.length > 0 }, signal)),
    );
    const made = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    const failures = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    // Of what is not refused it is not known whether it was made: the same launch again tells.
    const open = failures.find((error) => !isRefusal(error));
    if (open !== undefined) throw open;
    const [refusal] = failures;
    if (refusal !== undefined && made.length + restarted.length === 0) throw refusal;
    this.#calls.young.add(made.map(({ InstanceId: id = '' }) => id));
    return [...restarted, ...answerOf(plan, made)];
  }

  #restarts({ kind, request }: LaunchPlan): boolean {
    const { config } = this.#calls.client.spec().provider;
    return config.cache_stopped_nodes === true && kind === 'worker' && request.market === 'on-demand';
  }

  /** One call. What an earlier one under its token made is the answer, whatever the file says now. */
  async #run(plan: LaunchPlan, { token, count, patient }: Part, signal: AbortSignal): Promise<readonly Instance[]> {
    const { aws, clock } = this.#calls;
    const { request, zone, input } = plan;
    const about = { call: 'RunInstances', type: request.type, zone: request.zone ?? zone, market: request.market };
    const command = new RunInstancesCommand({ ...input, MinCount: 1, MaxCount: count, ClientToken: token });
    try {
      const { Instances: made } = await onceKnown(
        () => aws[patient ? 'askUnthrottled' : 'ask'](about, (options) => aws.ec2.send(command, options), signal),
        (error) => this.#isTooYoung(plan, error),
        clock,
        signal,
      );
      if (made === undefined)
        throw providerErrors.Unreachable({ call: about.call, detail: 'the response has no instances' });
      this.#settled = true;
      return made;
    } catch (error) {
      const code = awsCode(error);
      if (code !== 'IdempotentParameterMismatch' && code !== 'IdempotentInstanceTerminated') throw error;
      const found = await this.#madeFor(plan, { Name: 'client-token', Values: [token] }, signal);
      // None may mean that the list lags behind, unless they are known to have ended.
      if (found.length === 0 && code === 'IdempotentParameterMismatch')
        throw providerErrors.Unreachable({ call: about.call, detail: messageOf(error) }, error);
      return found;
    }
  }

  /** Those of this launch, as far as they have not been started again for another one since. */
  async #madeFor(
    { request }: LaunchPlan,
    filter: { readonly Name: string; readonly Values: string[] },
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const { aws, client } = this.#calls;
    const filters = filter.Name === 'client-token' ? [filter] : [ofCluster(client.clusterId), filter];
    return (await describeInstances(aws, filters, signal)).filter((each) => {
      const { launchToken } = instanceOf(each);
      return launchToken === '' || launchToken === request.token;
    });
  }

  /** What was prepared may be unknown to EC2 for a while; what the file names, or what a launch has used before, may not. */
  #isTooYoung({ own, madeProfile, input }: LaunchPlan, error: unknown): boolean {
    const code = awsCode(error);
    if (this.#settled || code === undefined) return false;
    const thing = youngThings.get(code);
    if (thing !== undefined) return own[thing] !== undefined;
    const { IamInstanceProfile: profile } = input;
    return madeProfile && profile !== undefined && code === 'InvalidParameterValue' && isAboutProfile(error);
  }
}

/** EC2 has no code of its own for a profile that it does not know, or that has no role yet. */
function isAboutProfile(error: unknown): boolean {
  const words = error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : '';
  return /IAM Instance Profile/i.test(words);
}

/** Whether preparing again could have put the same launch into another zone, where its token is not known. */
const mayMove = ({ request, own: { subnets = [] }, input }: LaunchPlan): boolean =>
  request.zone === undefined && subnets.length > 1 && input.SubnetId !== undefined;

const isRefusal = (error: unknown): boolean =>
  [providerErrors.NoCapacity, providerErrors.Quota, providerErrors.Throttled, providerErrors.Denied].some((kind) =>
    kind.is(error),
  );

/** As the launch made them: lists may not show their tags yet. */
const answerOf = ({ tags, request, kind }: LaunchPlan, made: readonly Instance[]): readonly ProviderInstance[] =>
  made
    .filter((each) => !isEnded(each))
    .map((each) => {
      const instance = instanceOf(each);
      return {
        ...instance,
        ...{ launchToken: request.token, type: request.type, kind },
        tags: { ...tags, ...instance.tags },
      };
    });
