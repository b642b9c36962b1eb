import type { Duration, Instant } from '../../../base/time/clock.ts';
import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from './calls.ts';
import { computeUrl, lastOf } from './links.ts';
import { allPages, allZones } from './paging.ts';
import { type Detail, GoogleFailure } from './refusals.ts';

/** What Compute Engine does later, as far as it is looked at. */
export interface Operation {
  readonly name: string;
  readonly operationType: string;
  readonly targetLink?: string;
  readonly zone?: string;
  readonly status: 'PENDING' | 'RUNNING' | 'DONE';
  readonly statusMessage?: string;
  readonly insertTime?: string;
  readonly endTime?: string;
  readonly httpErrorStatusCode?: number;
  readonly error?: {
    readonly errors?: readonly {
      readonly code?: string;
      readonly message?: string;
      readonly errorDetails?: readonly Detail[];
    }[];
  };
}

export const isInsert = ({ operationType }: Operation): boolean => operationType === 'insert';

/** By which an instance goes, on whichever order. */
export const isEnd = ({ operationType }: Operation): boolean =>
  operationType === 'delete' || operationType === 'compute.instances.preempted';

export const targetOf = ({ targetLink = '' }: Operation): string => lastOf(targetLink);

export function failureOfOperation({ error, httpErrorStatusCode = 400 }: Operation): GoogleFailure | undefined {
  const [first] = error?.errors ?? [];
  if (error === undefined) return undefined;
  const { code = '', message = code, errorDetails = [] } = first ?? {};
  return new GoogleFailure(httpErrorStatusCode, code, message, errorDetails);
}

const instantOf = (time: string | undefined): Instant => Date.parse(time ?? '') || 0;

/** Whether it ended after the launch that began it had stopped to wait: then only lists can tell. */
export const isLate = ({ status, insertTime, endTime }: Operation, wait: Duration): boolean =>
  status === 'DONE' && instantOf(endTime) - instantOf(insertTime) >= wait;

export const insertedAt = ({ insertTime }: Operation): Instant => instantOf(insertTime);

/** Operations of a zone on instances whose names contain this. */
export const operationsOn = (
  calls: GoogleCalls,
  zone: string,
  name: string,
  signal: AbortSignal,
): Promise<readonly Operation[]> =>
  allPages(
    calls,
    'zoneOperations.list',
    computeUrl(calls.project, `zones/${zone}/operations`),
    { filter: `targetLink : "instances/${name}"`, maxResults: 500 },
    ({ items = [] }) => items as readonly Operation[],
    signal,
  );

/** The same in all zones, of inserts and deletes since an instant. */
export const operationsSince = (
  calls: GoogleCalls,
  name: string,
  since: Instant,
  signal: AbortSignal,
): Promise<readonly Operation[]> =>
  allZones<Operation>(
    calls,
    'globalOperations.aggregatedList',
    computeUrl(calls.project, 'aggregated/operations'),
    {
      part: 'operations',
      filter: `(targetLink : "instances/${name}") AND (operationType = "insert" OR operationType = "delete") AND (insertTime > "${new Date(since).toISOString()}")`,
    },
    signal,
  );

/** The operation when it has ended, or as it is after so long. */
export async function waitFor(
  { google, project }: GoogleCalls,
  operation: Operation,
  most: Duration,
  signal: AbortSignal,
): Promise<Operation> {
  if (operation.status === 'DONE') return operation;
  const url = computeUrl(project, `zones/${lastOf(operation.zone ?? '')}/operations/${operation.name}`);
  const enough = AbortSignal.timeout(Math.max(1, most));
  try {
    return await google.ask<Operation>(
      { call: 'zoneOperations.wait' },
      { method: 'POST', url: `${url}/wait` },
      AbortSignal.any([signal, enough]),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!enough.aborted && !providerErrors.Unreachable.is(error) && !providerErrors.Throttled.is(error)) throw error;
  }
  return await google.ask<Operation>({ call: 'zoneOperations.get' }, { method: 'GET', url }, signal);
}
