import { doubling, retry } from '../../base/time/retry.ts';
import { providerErrors } from '../errors.ts';
import { onceKnown } from '../young.ts';
import type { GoogleCalls } from './client/calls.ts';
import { computeUrl } from './client/links.ts';
import { googleFailure } from './client/refusals.ts';
import { type GoogleLabels, toLabels } from './labels.ts';
import { type GoogleInstance, idOf, placeOf } from './list/listing.ts';

/** How often labels are read and written again when somebody else was faster. */
const mostTries = 20;

/** Somebody has changed the labels since they were read. */
export const isStale = (error: unknown): boolean => googleFailure(error)?.status === 412;

export async function getInstance(calls: GoogleCalls, id: string, signal: AbortSignal): Promise<GoogleInstance> {
  const place = placeOf(id);
  if (place === undefined) throw providerErrors.NotFound({ id });
  const url = computeUrl(calls.project, `zones/${place.zone}/instances/${place.name}`);
  return await calls.google.ask<GoogleInstance>({ call: 'instances.get', id }, { method: 'GET', url }, signal);
}

/** Writes labels over those that were read. Fails as `isStale` says where they are others by now. */
export async function setLabels(
  calls: GoogleCalls,
  { zone, name, labels = {}, labelFingerprint }: GoogleInstance,
  tags: GoogleLabels,
  signal: AbortSignal,
): Promise<void> {
  const id = idOf(zone, name);
  const place = placeOf(id)!;
  const url = computeUrl(calls.project, `zones/${place.zone}/instances/${name}/setLabels`);
  const body = { labels: { ...labels, ...toLabels(tags) }, labelFingerprint };
  await calls.google.ask({ call: 'instances.setLabels', id }, { method: 'POST', url, body }, signal);
}

/** Sets labels and leaves the others. */
export async function tagInstance(
  calls: GoogleCalls,
  id: string,
  tags: GoogleLabels,
  signal: AbortSignal,
): Promise<void> {
  const { clock, young } = calls;
  const put = async (): Promise<void> => setLabels(calls, await getInstance(calls, id, signal), tags, signal);
  await onceKnown(
    () =>
      retry(put, {
        clock,
        signal,
        pause: doubling(50, 2_000),
        again: (error, tries) => isStale(error) && tries < mostTries,
      }),
    (error) => providerErrors.NotFound.is(error) && young.has(id),
    clock,
    signal,
  );
}
