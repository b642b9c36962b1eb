import type { Clock } from '../../base/time/clock.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import type { CloudProvider } from '../../providers/clouds.ts';
import { providerErrors } from '../../providers/errors.ts';

/** What `up` asks a cloud when it looks for a head. */
export type HeadCloud = Pick<CloudProvider, 'learn' | 'list' | 'launch' | 'lastKnown'>;

const mostTries = 5;

/** Makes a call that may be repeated again where its answer got lost, or the cloud wants fewer of them. */
export const patiently = <Value>(call: () => Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> =>
  retry(call, {
    clock,
    signal,
    pause: doubling(250, 4_000),
    again: (error, tries) =>
      tries < mostTries && (providerErrors.Unreachable.is(error) || providerErrors.Throttled.is(error)),
  });

/** A cloud whose every call is made patiently. */
export const patientCloud = (cloud: HeadCloud, clock: Clock): HeadCloud => ({
  learn: (signal) => patiently(() => cloud.learn(signal), clock, signal),
  list: (signal) => patiently(() => cloud.list(signal), clock, signal),
  launch: (request, signal) => patiently(() => cloud.launch(request, signal), clock, signal),
  lastKnown: (id, signal) => patiently(() => cloud.lastKnown(id, signal), clock, signal),
});
