import { defineError } from '../base/errors.ts';

interface Asked {
  type: string;
  zone?: string | undefined;
  market?: string | undefined;
  detail?: string | undefined;
}

const where = (e: Asked): string =>
  `'${e.type}'${e.zone ? ` in ${e.zone}` : ''}${e.market ? ` (${e.market})` : ''}${e.detail ? `: ${e.detail}` : ''}`;

/** What a provider may answer instead of instances. The kind chooses the branch: try elsewhere, later, or never. */
export const providerErrors = {
  NoCapacity: defineError<Asked>({
    code: 'MANTA_PROVIDER_NO_CAPACITY',
    exit: 5,
    message: (e) => `the provider has no capacity for ${where(e)}`,
    hint: () => 'another zone, market or node type is tried next; list more of them to widen the choice',
  }),
  Quota: defineError<Asked>({
    code: 'MANTA_PROVIDER_QUOTA',
    exit: 5,
    message: (e) => `the account's quota does not allow ${where(e)}`,
    hint: () => 'ask the provider for a higher quota, or lower max_workers',
  }),
  Throttled: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_THROTTLED',
    exit: 5,
    message: (e) => `the provider throttled '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'the call is tried again after a back-off',
  }),
  Denied: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_DENIED',
    exit: 5,
    message: (e) => `the provider refused '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'check the credentials and the permissions of the account',
  }),
  NotFound: defineError<{ id: string }>({
    code: 'MANTA_PROVIDER_NOT_FOUND',
    exit: 5,
    message: (e) => `the provider knows no instance '${e.id}'`,
  }),
  Unreachable: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_PROVIDER_UNREACHABLE',
    exit: 5,
    message: (e) => `the provider did not answer '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'whether the call took effect is unknown until the next list; nothing is ended meanwhile',
  }),
};
