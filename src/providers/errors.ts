import { defineError } from '../base/errors.ts';

/** What a quota closes: offers in the zone that was asked for, in its region, or all of the project or account. */
export type Closing = 'zone' | 'region' | 'project';

interface Asked {
  type: string;
  zone?: string | undefined;
  market?: string | undefined;
  detail?: string | undefined;
}

const where = (e: Asked): string =>
  `'${e.type}'${e.zone ? ` in ${e.zone}` : ''}${e.market ? ` (${e.market})` : ''}${e.detail ? `: ${e.detail}` : ''}`;

/** A call that changes nothing: there is no doubt about what it did. */
const isLook = (call: string): boolean => /^(?:describe|get|list)|\.(?:get|list|aggregatedList)$/i.test(call);

/** What a provider may answer instead of instances. The kind chooses the branch: try elsewhere, later, or never. */
export const providerErrors = {
  NoCapacity: defineError<Asked>({
    code: 'MANTA_PROVIDER_NO_CAPACITY',
    exit: 5,
    message: (e) => `the provider has no capacity for ${where(e)}`,
    hint: () => 'Manta tries another zone, market or node type next; list more of them to widen the choice',
  }),
  Quota: defineError<Asked & { closes?: Closing | undefined }>({
    code: 'MANTA_PROVIDER_QUOTA',
    exit: 5,
    message: (e) => `the account's quota does not allow ${where(e)}`,
    hint: () => 'request a higher quota from the provider, or lower max_workers',
  }),
  Throttled: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_THROTTLED',
    exit: 5,
    message: (e) => `the provider throttled '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'Manta retries the call after a backoff',
  }),
  Denied: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_DENIED',
    exit: 5,
    message: (e) => `the provider refused '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => "check the account's credentials and permissions",
  }),
  NotFound: defineError<{ id: string }>({
    code: 'MANTA_PROVIDER_NOT_FOUND',
    exit: 5,
    message: (e) => `the provider has no instance '${e.id}'`,
  }),
  Unreachable: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_UNREACHABLE',
    exit: 5,
    message: (e) => `the provider did not answer '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: (e) =>
      isLook(e.call)
        ? 'check the network of this machine and the address of the provider; Manta repeats the call, and terminates nothing until it is answered'
        : 'Manta cannot tell whether the call took effect until the provider lists its instances again; it terminates nothing until then',
  }),
};
