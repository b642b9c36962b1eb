// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Google, type GoogleOptions, labProject, openStandInGoogle } from '../../../lab/google/open.ts';
import type { Clock, Duration } from '../../../src/base/time/clock.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import { openCluster } from '../../../src/core/spec/read.ts';
import type { CloudClient } from '../../../src/providers/clouds.ts';
import type { PreparedGoogle } from '../../../src/providers/google/prepared.ts';
import { GoogleProvider } from '../../../src/providers/google/provider.ts';
import type { LaunchRequest } from '../../../src/providers/provider.ts';
import { providers } from '../../../src/providers/table.ts';

export const region = 'us-west1';
export const zone = 'us-west1-a';
export const tpuZone = 'us-central2-b';

/** A cluster file with a head, a worker and a slice. Lines are put into the sections that they name. */
export function clusterText(
  more: {
    readonly provider?: readonly string[];
    readonly worker?: readonly string[];
    readonly head?: readonly string[];
    readonly slice?: readonly string[];
  } = {},
): string {
  const lines = (indent: number, given: readonly string[] = []): string[] =>
    given.map((line) => `${' '.repeat(indent)}${line}`);
  return [
    'cluster_name: bed',
    'max_workers: 200',
    'provider:',
    '  type: gcp',
    `  region: ${region}`,
    `  availability_zone: ${zone}`,
    `  project_id: ${labProject}`,
    ...lines(2, more.provider),
    'auth: {ssh_user: ubuntu}',
    'head_node_type: head',
    'available_node_types:',
    '  head:',
    '    resources: {CPU: 2}',
    '    node_config:',
    '      machineType: n1-standard-2',
    ...lines(6, more.head),
    '  worker:',
    '    resources: {CPU: 2}',
    '    node_config:',
    '      machineType: n1-standard-2',
    ...lines(6, more.worker),
    '  slice:',
    '    resources: {CPU: 240, TPU: 4}',
    '    node_config:',
    '      acceleratorType: v4-16',
    '      runtimeVersion: tpu-ubuntu2204-base',
    ...lines(6, more.slice),
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

/** What preparing finds in the project of the fake. */
export function preparedOf(
  more: Partial<PreparedGoogle> = {},
  own: Partial<PreparedGoogle['types'][string]> = {},
): PreparedGoogle {
  const type = {
    kind: 'compute' as const,
    machine: 'n1-standard-2',
    resources: { CPU: 2, memory: 5_500_000_000 },
    zones: [zone],
    sourceImage: 'projects/deeplearning-platform-release/global/images/family/common-cpu',
    ...own,
  };
  const slice = {
    kind: 'tpu' as const,
    machine: 'v4-16',
    resources: { CPU: 240, TPU: 4 },
    zones: [tpuZone],
    slice: { type: 'v4-16', hosts: 2, topology: '2x2x2' },
  };
  return {
    format: 1,
    project: labProject,
    region,
    zones: [zone],
    sshKeys: { user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA head' },
    types: { head: type, worker: type, slice },
    network: { network: `projects/${labProject}/global/networks/default`, external: true },
    made: [],
    leaseDeletes: false,
    prices: { at: Date.now(), list: [] },
    ...more,
  };
}

export interface BedOptions {
  readonly text?: string;
  readonly prepared?: PreparedGoogle;
  readonly clusterId?: string;
  readonly credentials?: Parameters<Google['environment']>[0];
  readonly clock?: Clock;
  readonly launchWait?: Duration;
  readonly client?: Partial<CloudClient>;
}

/** A provider as a head makes it at its start; each is another head on the same project. */
export function providerOf(google: Google, options: BedOptions = {}): GoogleProvider {
  const { text = clusterText(), clusterId = 'c-1', prepared = preparedOf(), clock = wallClock } = options;
  const spec = specOf(text);
  const env = google.environment(options.credentials);
  return new GoogleProvider(
    {
      cluster: 'bed',
      clusterId,
      spec: () => spec,
      login: () => ({ user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA head' }),
      identity: () => ({ kind: 'user', env }),
      prepared: () => prepared,
      ...options.client,
    },
    clock,
    options.launchWait,
  );
}

export async function standInGoogle(t: TestContext, options: GoogleOptions = {}) {
  const google = await openStandInGoogle(options);
  t.after(() => google.close());
  return google;
}

export const ask = (token: string, more: Partial<LaunchRequest> = {}): LaunchRequest => ({
  ...{ token, type: 'worker', count: 1, market: 'on-demand', zone, tags: {} },
  ...more,
});
