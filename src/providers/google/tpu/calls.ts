import type { Duration } from '../../../base/time/clock.ts';
import { doubling } from '../../../base/time/retry.ts';
import { rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { lastOf, tpuUrl } from '../client/links.ts';
import { allPages } from '../client/paging.ts';
import { GoogleFailure } from '../client/refusals.ts';
import { clusterIdTag, fromLabels, toLabel } from '../labels.ts';
import { isSlice } from '../slice-shape.ts';
import type { TpuNode } from './node.ts';

/** What the API of TPUs does later. */
export interface TpuOperation {
  readonly name: string;
  readonly done?: boolean;
  readonly error?: { readonly code?: number; readonly message?: string };
  readonly metadata?: {
    readonly createTime?: string;
    readonly endTime?: string;
    readonly target?: string;
    readonly verb?: string;
  };
}

/** A request for slices that waits until there is room. */
export interface QueuedResource {
  readonly name: string;
  readonly createTime?: string;
  readonly state?: { readonly state?: string };
  readonly tpu?: { readonly nodeSpec?: readonly { readonly nodeId?: string; readonly node?: TpuNode }[] };
  readonly spot?: object;
}

export const parentOf = ({ project }: GoogleCalls, zone: string): string => `projects/${project}/locations/${zone}`;

/** Everything of a kind, in one zone or all (`-`). Throws where a zone could not be asked. */
export const allOf = <Item>(
  calls: GoogleCalls,
  kind: 'nodes' | 'queuedResources' | 'operations',
  zone: string,
  signal: AbortSignal,
): Promise<readonly Item[]> => {
  const call = `${kind}.list`;
  return allPages(
    calls,
    call,
    tpuUrl(`${parentOf(calls, zone)}/${kind}`),
    {},
    (page) => {
      const { unreachable = [], [kind]: items = [] } = page;
      const [missing] = unreachable as readonly string[];
      if (missing !== undefined)
        throw providerErrors.Unreachable({ call, detail: `${missing} cannot be reached: the list is not complete` });
      return items as readonly Item[];
    },
    signal,
  );
};

/**
 * Whether the cluster has, or had, types that are slices: the API of TPUs is asked nothing for others, which may not have it. A
 * machine that has the file alone goes by that.
 */
export const hasSlices = ({ prepared, client }: GoogleCalls): boolean =>
  prepared?.hadSlices === true || client.spec().nodeTypes.some(({ launchConfig }) => isSlice(launchConfig));

const isOfCluster = ({ client }: GoogleCalls, labels: TpuNode['labels']): boolean =>
  labels?.[clusterIdTag] === toLabel(client.clusterId);

export const nodesOfCluster = async (calls: GoogleCalls, signal: AbortSignal): Promise<readonly TpuNode[]> => {
  const found = (await allOf<TpuNode>(calls, 'nodes', '-', signal)).filter(({ labels }) => isOfCluster(calls, labels));
  return [...new Map(found.map((each) => [each.name, each])).values()];
};

/** Nodes that carry the cluster's name and that Manta did not make: somebody made them by hand to join it. */
export const nodesByHand = async (calls: GoogleCalls, signal: AbortSignal): Promise<readonly TpuNode[]> =>
  (await allOf<TpuNode>(calls, 'nodes', '-', signal)).filter(
    ({ labels }) => labels?.[rayTags.cluster] === toLabel(calls.client.cluster) && !Object.hasOwn(labels, clusterIdTag),
  );

/** The same of clusters of this name, whatever their ids: those that wait for room too. */
export async function slicesOfName(
  calls: GoogleCalls,
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const [nodes, queued] = await Promise.all([
    allOf<TpuNode>(calls, 'nodes', '-', signal),
    allOf<QueuedResource>(calls, 'queuedResources', '-', signal),
  ]);
  const labelled = [
    ...nodes.map(({ name, labels }) => ({ name, labels })),
    ...queued.map(({ name, tpu }) => ({ name, labels: tpu?.nodeSpec?.[0]?.node?.labels })),
  ];
  return labelled.flatMap(({ name, labels = {} }) => {
    const id = fromLabels(labels)[clusterIdTag];
    return id === undefined || labels[rayTags.cluster] !== toLabel(calls.client.cluster) ? [] : [{ id, name }];
  });
}

/** Requests have no labels of their own: they are the cluster's whose label their slices will have. */
export const queuedOfCluster = async (calls: GoogleCalls, signal: AbortSignal): Promise<readonly QueuedResource[]> =>
  (await allOf<QueuedResource>(calls, 'queuedResources', '-', signal)).filter(({ tpu }) =>
    isOfCluster(calls, tpu?.nodeSpec?.[0]?.node?.labels),
  );

/** Operations of a zone on slices whose names begin so. */
export const operationsOnSlices = async (
  calls: GoogleCalls,
  zone: string,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly TpuOperation[]> =>
  (await allOf<TpuOperation>(calls, 'operations', zone, signal)).filter(({ metadata }) =>
    lastOf(metadata?.target ?? '').startsWith(prefix),
  );

export const failureOfTpu = ({ error }: TpuOperation): GoogleFailure | undefined =>
  error && new GoogleFailure(0, String(error.code ?? ''), error.message ?? '');

/** Whether it ended after the launch that began it had stopped to wait. */
export const isLateOperation = ({ done, metadata }: TpuOperation, wait: Duration): boolean =>
  done === true && Date.parse(metadata?.endTime ?? '') - Date.parse(metadata?.createTime ?? '') >= wait;

/** The operation when it has ended, or as it is after so long: this API has no call that waits. */
export async function waitForTpu(
  { google, clock }: GoogleCalls,
  operation: TpuOperation,
  until: number,
  signal: AbortSignal,
): Promise<TpuOperation> {
  const pause = doubling(100, 2_000);
  let now = operation;
  for (let tries = 1; now.done !== true; tries++) {
    const left = until - clock.now();
    if (left > 0) await clock.sleep(Math.min(pause(tries), left), signal);
    const request = { method: 'GET', url: tpuUrl(operation.name) } as const;
    now = await google.ask<TpuOperation>({ call: 'operations.get' }, request, signal);
    if (left <= 0) break;
  }
  return now;
}
