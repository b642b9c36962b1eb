import { rayTags } from '../../../core/ray-tags.ts';
import type { ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { lastOf } from '../client/links.ts';
import { lateRefusalOf } from '../client/refusals.ts';
import { fromLabels } from '../labels.ts';
import { failuresLast } from '../list/listing.ts';
import { clusterPrefix, tokenOfName } from '../names.ts';
import {
  failureOfTpu,
  isLateOperation,
  nodesOfCluster,
  operationsOnSlices,
  type QueuedResource,
  queuedOfCluster,
} from './calls.ts';
import { hostsOf, membersOf, membersOfNode, zoneOfNode } from './node.ts';
import { isCreate, isDelete, type Repairs, type SliceLaunches, targetOf, usesQueue } from './slices.ts';

/** All hosts of all slices of the cluster, those that wait for room too. */
export async function listSlices(
  calls: GoogleCalls,
  repairs: Repairs,
  signal: AbortSignal,
): Promise<readonly ProviderInstance[]> {
  const [nodes, queued] = await Promise.all([
    nodesOfCluster(calls, signal),
    usesQueue(calls) ? queuedOfCluster(calls, signal) : [],
  ]);
  const now = calls.clock.now();
  const names = new Set(nodes.map(({ name }) => lastOf(name)));
  return [
    ...nodes.flatMap((node) => membersOfNode(calls, node, repairs.isLost(node, now) ? 'stopped' : undefined)),
    ...queued.filter(({ name }) => !names.has(lastOf(name))).flatMap((each) => membersOfQueued(calls, each)),
  ];
}

const over: ReadonlySet<string | undefined> = new Set(['SUSPENDED', 'FAILED']);

/** A request without a slice: it waits, or it is over and has to be deleted. */
function membersOfQueued(calls: GoogleCalls, { name, state, createTime, tpu, spot }: QueuedResource) {
  const node = tpu?.nodeSpec?.[0]?.node;
  if (node === undefined) return [];
  const tags = fromLabels(node.labels, calls.typeNames);
  const zone = zoneOfNode(name);
  const now = state?.state;
  const hosts = hostsOf(node);
  return membersOf(
    { zone, node: lastOf(name), hosts, type: node.acceleratorType ?? '' },
    {
      launchToken: tags[rayTags.launchRequest] ?? '',
      type: tags[rayTags.type] ?? '',
      kind: 'worker',
      state: over.has(now) ? 'stopped' : now === 'DELETING' || now === 'SUSPENDING' ? 'stopping' : 'pending',
      zone,
      market: spot !== undefined ? 'spot' : node.schedulingConfig?.reserved === true ? 'reserved' : 'on-demand',
      launchedAt: Date.parse(createTime ?? '') || 0,
      tags,
    },
  );
}

/** Slices that were accepted and never came to be: of those only their operations are left. */
export async function lateSlices(
  calls: GoogleCalls,
  launches: SliceLaunches,
  signal: AbortSignal,
): Promise<readonly ProviderInstance[]> {
  const { client, clock, launchWait, prepared } = calls;
  const prefix = clusterPrefix(client.cluster, client.clusterId);
  const zones = new Set(
    Object.values(prepared?.types ?? {}).flatMap(({ kind, zones: at }) => (kind === 'tpu' ? at : [])),
  );
  const found = await Promise.all([...zones].map((zone) => operationsOnSlices(calls, zone, prefix, signal)));
  const since = clock.now() - failuresLast;
  return found.flatMap((operations) => {
    const gone = new Set(operations.filter(isDelete).map(targetOf));
    return operations.flatMap((operation): readonly ProviderInstance[] => {
      const failure = failureOfTpu(operation);
      const node = targetOf(operation);
      const at = Date.parse(operation.metadata?.createTime ?? '') || 0;
      if (failure === undefined || !isCreate(operation) || !isLateOperation(operation, launchWait)) return [];
      if (gone.has(node) || at < since) return [];
      const zone = zoneOfNode(operation.name);
      return membersOf(
        { zone, node, hosts: launches.hostsOf(node), type: '' },
        {
          launchToken: tokenOfName(client.cluster, client.clusterId, node) ?? '',
          ...{ type: '', kind: 'worker', state: 'stopping', zone, launchedAt: at, tags: {} },
          failed: lateRefusalOf(failure),
        },
      );
    });
  });
}
