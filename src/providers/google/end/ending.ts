import { messageOf } from '../../../base/errors.ts';
import { providerErrors } from '../../errors.ts';
import { onceKnown } from '../../young.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl } from '../client/links.ts';
import { googleFailure } from '../client/refusals.ts';
import { googleErrors } from '../errors.ts';
import { placeOf } from '../list/listing.ts';

/** What an order for one instance comes to: gone is not an error, unless it may only be too young. */
async function order(calls: GoogleCalls, id: string, verb: 'delete' | 'stop', signal: AbortSignal): Promise<void> {
  const { google, clock, young, project } = calls;
  const { zone, name } = placeOf(id)!;
  const url = computeUrl(project, `zones/${zone}/instances/${name}`);
  const request =
    verb === 'delete' ? ({ method: 'DELETE', url } as const) : ({ method: 'POST', url: `${url}/stop` } as const);
  try {
    await onceKnown(
      () => google.ask({ call: `instances.${verb}`, id }, request, signal),
      (error) => providerErrors.NotFound.is(error) && young.has(id),
      clock,
      signal,
    );
  } catch (error) {
    if (!providerErrors.NotFound.is(error)) throw error;
  }
  young.forget([id]);
}

/** What is on its way already cannot be ordered again. */
const isUnderWay = (error: unknown): boolean => googleFailure(error)?.reason === 'resourceNotReady';

/** Orders the end of instances. One that is gone or held back does not hold up the others. Throws `Protected` in the end. */
export async function terminateInstances(
  calls: GoogleCalls,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const own = [...new Set(ids)].filter((id) => placeOf(id) !== undefined);
  const held = new Map<string, string>();
  const results = await Promise.allSettled(
    own.map(async (id) => {
      try {
        await order(calls, id, 'delete', signal);
      } catch (error) {
        if (isUnderWay(error)) return;
        // Google has no reason of its own for an instance that is protected.
        if (googleFailure(error)?.status !== 400) throw error;
        held.set(id, messageOf(error));
      }
    }),
  );
  const failed = results.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason as Error;
  if (held.size > 0) throw googleErrors.Protected({ ids: [...held.keys()], detail: [...held.values()][0]! });
}

/** Ids that are gone are left out; one that cannot be stopped throws, after the others have been. */
export async function stopInstances(calls: GoogleCalls, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const own = [...new Set(ids)].filter((id) => placeOf(id) !== undefined);
  const results = await Promise.allSettled(own.map((id) => order(calls, id, 'stop', signal)));
  const failed = results.find((each) => each.status === 'rejected' && !isUnderWay(each.reason));
  if (failed?.status === 'rejected') throw failed.reason as Error;
}
