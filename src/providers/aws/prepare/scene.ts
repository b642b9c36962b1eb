import { doubling, retry } from '../../../base/time/retry.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { PreparationRequest, PreparationStep } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { providerErrors } from '../../errors.ts';
import { AwsClient } from '../client/client.ts';
import { awsErrors } from '../errors.ts';
import { clusterTags } from '../tags.ts';
import { explain } from './refused.ts';

/** What is told of one concern once it was looked at. */
export interface Told {
  readonly steps: readonly PreparationStep[];
  readonly warnings: readonly string[];
}

const mostTries = { throttled: 8, noAnswer: 3 };

/** Of an action as policies name it. */
const callOf = (action: string): string => action.slice(action.indexOf(':') + 1);

/** Throws for what is not the name of a region: calls would go to a host that does not exist, as if the network were down. */
function checkRegion(region: string): void {
  const at = ['provider', 'region'];
  const ofZone = /^([a-z-]+-\d+)[a-z]$/.exec(region)?.[1];
  if (ofZone !== undefined)
    throw awsErrors.BadConfig({ at, problem: `is a zone: '${region}'`, hint: `its region is ${ofZone}` });
  if (!/^[a-z\d-]+$/.test(region))
    throw awsErrors.BadConfig({ at, problem: `is not a region: '${region}'`, hint: 'name one such as us-west-2' });
}

/** One preparation: which cluster, where, and how AWS is asked. */
export class Scene {
  readonly aws: AwsClient;
  readonly request: PreparationRequest;
  readonly spec: ClusterSpec;
  readonly region: string;
  readonly env: CommandEnvironment;
  readonly signal: AbortSignal;

  constructor(request: PreparationRequest, signal: AbortSignal) {
    const spec = request.spec();
    const { region, aws_credentials: given } = spec.provider.config;
    if (!isText(region))
      throw awsErrors.BadConfig({
        at: ['provider', 'region'],
        problem: 'is missing',
        hint: 'name the region of the instances, such as us-west-2',
      });
    checkRegion(region);
    const identity = request.identity();
    this.request = request;
    this.spec = spec;
    this.region = region;
    this.env = identity.kind === 'user' ? identity.env : {};
    this.signal = signal;
    this.aws = new AwsClient({ region, identity, given: mapOf(given) });
  }

  /** On what is made here. */
  get tags(): { Key: string; Value: string }[] {
    return [...clusterTags(this.request.cluster, this.request.clusterId)];
  }

  /**
   * Makes a call, named as policies do: `ec2:DescribeSubnets`. One that was throttled, or for which no answer came, is made
   * again: who makes something finds what an earlier call made. Throws what the user is to be told; `isCode` tells by AWS's
   * own code.
   */
  async ask<Result>(
    action: string,
    send: (options: { readonly abortSignal: AbortSignal }) => Promise<Result>,
  ): Promise<Result> {
    const { request, signal } = this;
    const call = callOf(action);
    try {
      return await retry(() => this.aws.ask({ call }, send, signal), {
        clock: request.clock,
        signal,
        pause: doubling(200, 5_000),
        again: (error, tries) =>
          providerErrors.Throttled.is(error)
            ? tries < mostTries.throttled
            : providerErrors.Unreachable.is(error) && tries < mostTries.noAnswer,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, action, this.env) ?? error;
    }
  }

  /** All pages of a list. */
  async askAll<Result extends { readonly NextToken?: string | undefined }>(
    action: string,
    send: (page: { NextToken?: string }, options: { readonly abortSignal: AbortSignal }) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const pages: Result[] = [];
    for (let next: string | undefined; ; ) {
      const from = next === undefined ? {} : { NextToken: next };
      const page = await this.ask(action, (options) => send(from, options));
      pages.push(page);
      if (!page.NextToken) return pages;
      if (page.NextToken === next)
        throw providerErrors.Unreachable({
          call: callOf(action),
          detail: 'the list returned the same page twice',
        });
      next = page.NextToken;
    }
  }
}
