import type { Duration } from '../../../base/time/clock.ts';
import { rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl, lastOf } from '../client/links.ts';
import {
  failureOfOperation,
  insertedAt,
  isEnd,
  isInsert,
  isLate,
  operationsSince,
  targetOf,
} from '../client/operations.ts';
import { allZones } from '../client/paging.ts';
import { lateRefusalOf } from '../client/refusals.ts';
import { fromLabels, ofCluster } from '../labels.ts';
import { clusterPrefix, tokenOfName } from '../names.ts';

/** An instance of Compute Engine, as far as it is looked at. */
export interface GoogleInstance {
  readonly name: string;
  readonly zone: string;
  readonly status: string;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly labelFingerprint?: string;
  readonly statusMessage?: string;
  readonly scheduling?: { readonly preemptible?: boolean; readonly provisioningModel?: string };
  readonly reservationAffinity?: { readonly consumeReservationType?: string };
  readonly guestAccelerators?: readonly unknown[];
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

/** How long a failed insert is told of. */
export const failuresLast: Duration = 3600_000;

/** Ids are never used again, for names are not. */
export const idOf = (zone: string, name: string): string => `${lastOf(zone)}/${name}`;

/** Where an instance is, by its id. Undefined for what is not an id of Compute Engine. */
export function placeOf(id: string): { readonly zone: string; readonly name: string } | undefined {
  const [, zone, name] = /^([a-z]+-[a-z]+\d+-[a-z][a-z0-9]*)\/([a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)$/.exec(id) ?? [];
  return zone === undefined || name === undefined ? undefined : { zone, name };
}

/** Instances that fit a filter, in any zone and any state. */
export async function listInstances(
  calls: GoogleCalls,
  filter: string,
  signal: AbortSignal,
): Promise<readonly GoogleInstance[]> {
  const call = 'instances.aggregatedList';
  const url = computeUrl(calls.project, 'aggregated/instances');
  const found = await allZones<GoogleInstance>(calls, call, url, { part: 'instances', filter }, signal);
  if (found.some(({ name, zone, status }) => !name || !zone || !status))
    throw providerErrors.Unreachable({ call, detail: 'the response has an incomplete instance' });
  return [...new Map(found.map((each) => [idOf(each.zone, each.name), each])).values()];
}

export const listCluster = (calls: GoogleCalls, signal: AbortSignal): Promise<readonly GoogleInstance[]> =>
  listInstances(calls, ofCluster(calls.client.clusterId), signal);

const states: ReadonlyMap<string, ProviderInstance['state']> = new Map([
  ['PENDING', 'pending'],
  ['PROVISIONING', 'pending'],
  ['STAGING', 'pending'],
  ['RUNNING', 'running'],
  ['REPAIRING', 'running'],
  ['TERMINATED', 'stopped'],
  ['STOPPED', 'stopped'],
  ['SUSPENDED', 'stopped'],
]);

export function instanceOf(instance: GoogleInstance, typeNames: readonly string[]): ProviderInstance {
  const tags = fromLabels(instance.labels, typeNames);
  const [first] = instance.networkInterfaces ?? [];
  const inside = first?.networkIP || undefined;
  const outside = first?.accessConfigs?.[0]?.natIP || undefined;
  return {
    id: idOf(instance.zone, instance.name),
    launchToken: tags[rayTags.launchRequest] ?? '',
    type: tags[rayTags.type] ?? '',
    kind: tags[rayTags.kind] === 'head' ? 'head' : 'worker',
    state: states.get(instance.status) ?? 'stopping',
    zone: lastOf(instance.zone),
    market: marketOf(instance),
    launchedAt: Date.parse(instance.creationTimestamp ?? '') || 0,
    tags,
    ...((inside ?? outside) !== undefined && {
      address: { ...(inside !== undefined && { inside }), ...(outside !== undefined && { outside }) },
    }),
  };
}

export const hasAccelerators = ({ guestAccelerators = [] }: GoogleInstance): boolean => guestAccelerators.length > 0;

function marketOf({ scheduling, reservationAffinity }: GoogleInstance) {
  if (scheduling?.preemptible === true || scheduling?.provisioningModel === 'SPOT') return 'spot';
  return reservationAffinity?.consumeReservationType === 'SPECIFIC_RESERVATION' ? 'reserved' : 'on-demand';
}

/** Instances that were accepted and never ran: of those only their operations are left. */
export async function lateRefusals(calls: GoogleCalls, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
  const { client, clock, launchWait } = calls;
  const prefix = clusterPrefix(client.cluster, client.clusterId);
  const found = await operationsSince(calls, prefix, clock.now() - failuresLast, signal);
  const ended = new Set(found.filter(isEnd).map(({ targetLink }) => targetLink));
  return found.flatMap((operation): readonly ProviderInstance[] => {
    const failure = failureOfOperation(operation);
    if (!isInsert(operation) || failure === undefined || !isLate(operation, launchWait)) return [];
    if (ended.has(operation.targetLink)) return [];
    const name = targetOf(operation);
    const zone = lastOf(operation.zone ?? '');
    return [
      {
        id: idOf(zone, name),
        launchToken: tokenOfName(client.cluster, client.clusterId, name) ?? '',
        type: '',
        kind: 'worker',
        state: 'stopping',
        zone,
        launchedAt: insertedAt(operation),
        tags: {},
        failed: lateRefusalOf(failure),
      },
    ];
  });
}

/** Ray's mark for machines that somebody else keeps: they are neither set up nor ended. */
export const isOwn = (instance: ProviderInstance): boolean => instance.tags[rayTags.kind] !== 'unmanaged';
