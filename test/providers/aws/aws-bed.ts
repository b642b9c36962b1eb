// needs: botocore

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Aws, type AwsOptions, labAccount, openStandInAws } from '../../../lab/aws/open.ts';
import type { Credentials } from '../../../lab/aws/principals.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import { openCluster } from '../../../src/core/spec/read.ts';
import type { PreparedAws } from '../../../src/providers/aws/prepared.ts';
import { AwsProvider } from '../../../src/providers/aws/provider.ts';
import type { CloudClient } from '../../../src/providers/clouds.ts';
import type { LaunchRequest } from '../../../src/providers/provider.ts';
import { providers } from '../../../src/providers/table.ts';
import { imageOf } from '../../lab/aws-bed.ts';

export const region = 'us-west-2';
export const zone = 'us-west-2a';

/** A minute of it is a tenth of a second. */
export const fastClock: Clock = {
  now: () => Date.now() + 600 * performance.now(),
  sleep: (duration, signal) => sleep(duration / 600, undefined, signal && { signal }),
};

/** A cluster file with a head and a worker. Lines are put into the sections that they name. */
export function clusterText(
  more: {
    readonly provider?: readonly string[];
    readonly worker?: readonly string[];
    readonly head?: readonly string[];
    readonly manta?: readonly string[];
  } = {},
): string {
  const lines = (indent: number, given: readonly string[] = []): string[] =>
    given.map((line) => `${' '.repeat(indent)}${line}`);
  return [
    'cluster_name: bed',
    'max_workers: 200',
    'provider:',
    '  type: aws',
    `  region: ${region}`,
    ...lines(2, more.provider),
    ...(more.manta === undefined ? [] : ['  manta:', ...lines(4, more.manta)]),
    'auth: {ssh_user: ubuntu}',
    'head_node_type: head',
    'available_node_types:',
    '  head:',
    '    node_config:',
    '      InstanceType: m5.large',
    ...lines(6, more.head),
    '  worker:',
    '    node_config:',
    '      InstanceType: m5.large',
    ...lines(6, more.worker),
    '',
  ].join('\n');
}

export function specOf(text: string): ClusterSpec {
  const { spec, problems } = openCluster('cluster.yaml', Buffer.from(text), {}, providers);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  return spec!;
}

/** What preparing finds in an account of the fake. */
export function preparedOf(
  aws: Aws,
  more: Partial<PreparedAws> = {},
  own: Partial<PreparedAws['types'][string]> = {},
): PreparedAws {
  aws.world.network(labAccount, region);
  const subnets = aws.world.subnets.of(labAccount, region).map(({ id, zone: at }) => ({ id, zone: at }));
  const [group] = aws.cloud.has.groups.of(labAccount, region);
  const type = {
    instanceType: 'm5.large',
    image: imageOf(aws),
    rootDevice: '/dev/sda1',
    resources: { CPU: 2, memory: 6_012_954_214 },
    subnets,
    groups: [group!.id],
    ...own,
  };
  return {
    format: 1,
    region,
    account: labAccount,
    types: { head: type, worker: type },
    prices: { at: Date.now(), list: [] },
    ...more,
  };
}

export interface BedOptions {
  readonly text?: string;
  readonly prepared?: (aws: Aws) => PreparedAws;
  readonly clusterId?: string;
  readonly credentials?: Credentials;
  readonly clock?: Clock;
  readonly client?: Partial<CloudClient>;
}

/** A provider as a head makes it at its start; each is another head on the same account. */
export function providerOf(aws: Aws, options: BedOptions = {}): AwsProvider {
  const { text = clusterText(), clusterId = 'c-1', prepared = preparedOf, clock = wallClock } = options;
  const spec = specOf(text);
  const data = prepared(aws);
  return new AwsProvider(
    {
      cluster: 'bed',
      clusterId,
      spec: () => spec,
      login: () => ({ user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA head' }),
      identity: () => ({ kind: 'user', env: aws.environment(options.credentials) }),
      prepared: () => data,
      ...options.client,
    },
    clock,
  );
}

export async function standInAws(t: TestContext, options: AwsOptions = {}) {
  const aws = await openStandInAws(options);
  t.after(() => aws.close());
  return aws;
}

export const ask = (token: string, more: Partial<LaunchRequest> = {}): LaunchRequest => ({
  ...{ token, type: 'worker', count: 1, market: 'on-demand', zone, tags: {} },
  ...more,
});
