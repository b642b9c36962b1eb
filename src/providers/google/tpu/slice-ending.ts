import type { LastKnown } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { tpuUrl } from '../client/links.ts';
import { googleFailure } from '../client/refusals.ts';
import { fromLabels, type GoogleLabels, toLabels } from '../labels.ts';
import { operationsOnSlices, parentOf } from './calls.ts';
import { hostPlace, type TpuNode } from './node.ts';

async function getNode(calls: GoogleCalls, id: string, signal: AbortSignal): Promise<TpuNode> {
  const place = hostPlace(id);
  if (place === undefined) throw providerErrors.NotFound({ id });
  const url = tpuUrl(`${parentOf(calls, place.zone)}/nodes/${place.node}`);
  return await calls.google.ask<TpuNode>({ call: 'nodes.get', id }, { method: 'GET', url }, signal);
}

/** Ends the slices that these hosts are of, each once, with the request that it came from. */
export async function terminateSlices(calls: GoogleCalls, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const slices = new Map(
    ids.flatMap((id) => {
      const place = hostPlace(id);
      return place === undefined ? [] : [[`${place.zone}/${place.node}`, id] as const];
    }),
  );
  const results = await Promise.allSettled([...slices.values()].map((id) => terminateSlice(calls, id, signal)));
  const failed = results.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason as Error;
}

async function terminateSlice(calls: GoogleCalls, id: string, signal: AbortSignal): Promise<void> {
  const { zone, node } = hostPlace(id)!;
  const parent = parentOf(calls, zone);
  const there = await found(() => getNode(calls, id, signal));
  // One that has no node yet is a request that waits, if anything.
  const queued = there === undefined ? `${parent}/queuedResources/${node}` : there.queuedResource;
  const remove = (name: string, query = {}): Promise<unknown> =>
    calls.google.ask({ call: 'delete', id }, { method: 'DELETE', url: tpuUrl(name), query }, signal);
  if (queued !== undefined) await found(() => remove(queued, { force: true }));
  else await found(() => remove(`${parent}/nodes/${node}`));
}

/** Undefined for what is gone, or on its way. */
async function found<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (providerErrors.NotFound.is(error) || googleFailure(error)?.status === 409) return undefined;
    throw error;
  }
}

/** GoogleLabels are those of the slice; what is said of its first host counts for it. */
export async function tagSlice(calls: GoogleCalls, id: string, tags: GoogleLabels, signal: AbortSignal): Promise<void> {
  const { labels = {}, name } = await getNode(calls, id, signal);
  if (hostPlace(id)!.index > 0) return;
  const body = { labels: { ...labels, ...toLabels(tags) } };
  const request = { method: 'PATCH', url: tpuUrl(name), query: { updateMask: 'labels' }, body } as const;
  await calls.google.ask({ call: 'nodes.patch', id }, request, signal);
}

/** What is still known of a host: the node, or the operation that ended it. */
export async function lastKnownSlice(
  calls: GoogleCalls,
  id: string,
  signal: AbortSignal,
): Promise<LastKnown | undefined> {
  const { zone, node } = hostPlace(id)!;
  const there = await found(() => getNode(calls, id, signal));
  if (there !== undefined) {
    const { state = '', labels, healthDescription } = there;
    const ended = state === 'PREEMPTED' || state === 'TERMINATED';
    return { ended, tags: fromLabels(labels, calls.typeNames), ...(ended && { reason: healthDescription || state }) };
  }
  const operations = await operationsOnSlices(calls, zone, node, signal);
  if (operations.length === 0) return undefined;
  const end = operations.find(({ metadata }) => metadata?.verb === 'delete');
  return { ended: true, tags: {}, ...(end && { reason: 'it was deleted' }) };
}
