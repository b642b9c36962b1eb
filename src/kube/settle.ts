import type { Clock } from '../base/time/clock.ts';
import { dig, type Json, listAt } from '../core/kube/object.ts';
import type { Headway } from '../core/progress.ts';

/** Nodes learn of the addresses behind a Service a moment after the API server: kube-proxy writes its rules once a second. */
const settling = 1_200;

/** Calls nothing done before the addresses behind its Service have been the same for that moment. */
export function onceSettled(clock: Clock): (seen: Headway, slices: readonly Json[] | undefined) => Headway {
  let known = '';
  let since = clock.now();
  return (seen, slices = []) => {
    const addresses = JSON.stringify(
      slices
        .flatMap((slice) => listAt(slice, 'endpoints'))
        .map(addressOf)
        .sort(),
    );
    if (addresses !== known) [known, since] = [addresses, clock.now()];
    const waits = seen.state === 'done' && slices.length > 0 && clock.now() - since < settling;
    return waits ? { state: 'waiting', says: 'nodes learn of its addresses' } : seen;
  };
}

const addressOf = (endpoint: Json): string =>
  JSON.stringify([dig(endpoint, 'addresses'), dig(endpoint, 'conditions', 'ready')]);
