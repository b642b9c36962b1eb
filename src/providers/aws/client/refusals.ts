import { messageOf } from '../../../base/errors.ts';
import { type Closing, providerErrors } from '../../errors.ts';
import { awsErrors } from '../errors.ts';

/** What a call is about, for its error. */
export interface AboutCall {
  /** AWS's own name of the operation. */
  readonly call: string;
  /** The node type of a launch. */
  readonly type?: string;
  readonly zone?: string | undefined;
  readonly market?: string;
  readonly id?: string;
  /** Of the login that asks. */
  readonly profile?: string | undefined;
}

/** What Manta does about an error of AWS. */
type Branch =
  | { readonly kind: 'next-offer' | 'throttled' | 'not-found' | 'lost' | 'expired' }
  | { readonly kind: 'quota'; readonly closes: Closing }
  | { readonly kind: 'denied'; readonly step?: string };

const nextOffer: Branch = { kind: 'next-offer' };
const quota: Branch = { kind: 'quota', closes: 'region' };
const throttled: Branch = { kind: 'throttled' };
const notFound: Branch = { kind: 'not-found' };
const lost: Branch = { kind: 'lost' };
const expired: Branch = { kind: 'expired' };
const step = (text: string): Branch => ({ kind: 'denied', step: text });

/** By AWS's code. What is not here is refused for good, or not known to have happened where AWS itself failed. */
const branches: ReadonlyMap<string, Branch> = new Map([
  ['InsufficientInstanceCapacity', nextOffer],
  ['InsufficientFreeAddressesInSubnet', nextOffer],
  ['SpotMaxPriceTooLow', nextOffer],
  ['Unsupported', nextOffer],
  ['ReservationCapacityExceeded', nextOffer],
  ['InsufficientHostCapacity', nextOffer],
  ['InsufficientReservedInstanceCapacity', nextOffer],
  ['InsufficientVolumeCapacity', nextOffer],
  ['VolumeTypeNotAvailableInZone', nextOffer],
  ['VcpuLimitExceeded', quota],
  ['InstanceLimitExceeded', quota],
  ['MaxSpotInstanceCountExceeded', quota],
  ['VolumeLimitExceeded', quota],
  ['MaxIOPSLimitExceeded', quota],
  ['NetworkInterfaceLimitExceeded', quota],
  ['RequestLimitExceeded', throttled],
  ['Throttling', throttled],
  ['RequestThrottled', throttled],
  ['TooManyRequests', throttled],
  ['Throttled', throttled],
  ['EC2Throttled', throttled],
  ['SlowDown', throttled],
  ['InvalidInstanceID.NotFound', notFound],
  ['InvalidInstanceID.Malformed', notFound],
  ['InternalError', lost],
  ['InternalFailure', lost],
  ['Unavailable', lost],
  ['ServiceUnavailable', lost],
  ['ExpiredToken', expired],
  ['RequestExpired', expired],
  ['OptInRequired', step('open the AWS console and finish signing up for EC2 in this account and region')],
  [
    'PendingVerification',
    step('AWS is still verifying this account for the region: wait for its email, or ask its support'),
  ],
  [
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
    step("ask an administrator to run 'aws iam create-service-linked-role --aws-service-name spot.amazonaws.com' once"),
  ],
]);

/** Errors of the SDK itself, which has found nobody to ask as. */
const noLogin: ReadonlySet<string> = new Set(['CredentialsProviderError', 'TokenProviderError']);

interface ServiceError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const statusOf = (error: unknown): number | undefined => (error as ServiceError).$metadata?.httpStatusCode;

/**
 * AWS's code of an error, or of the one that it was made from. Undefined where AWS did not answer. The SDK puts `Exception`
 * behind the codes that it knows, and some services do so themselves: it is left out.
 */
export function awsCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ((statusOf(error) ?? 0) >= 400) return error.name.replace(/Exception$/, '');
  return error.cause === undefined ? undefined : awsCode(error.cause);
}

export const isThrottle = (error: unknown): boolean => branches.get(awsCode(error) ?? '')?.kind === 'throttled';

/** The kind of error that tells the caller what to do next, by AWS's code. `detail`: in place of AWS's own words. */
export function refusalOf(about: AboutCall, error: unknown, detail: string = messageOf(error)): Error {
  const { call, type = '', zone, market, id, profile } = about;
  const code = awsCode(error);
  if (code === undefined) {
    if (error instanceof Error && noLogin.has(error.name)) return awsErrors.NoLogin({ profile, detail }, error);
    return providerErrors.Unreachable({ call, detail }, error);
  }
  const branch = branches.get(code);
  switch (branch?.kind) {
    case 'next-offer':
      return providerErrors.NoCapacity({ type, zone, market, detail }, error);
    case 'quota':
      return providerErrors.Quota({ type, zone, market, detail, closes: branch.closes }, error);
    case 'throttled':
      return providerErrors.Throttled({ call, detail }, error);
    case 'not-found':
      if (id !== undefined) return providerErrors.NotFound({ id }, error);
      return providerErrors.Denied({ call, detail }, error);
    case 'lost':
      return providerErrors.Unreachable({ call, detail }, error);
    case 'expired':
      return awsErrors.LoginExpired({ profile, detail }, error);
    case 'denied':
    case undefined:
  }
  // Whether it took effect is not known of what failed inside AWS.
  if (branch === undefined && (statusOf(error) ?? 0) >= 500) return providerErrors.Unreachable({ call, detail }, error);
  const next = branch?.step === undefined ? '' : ` (${branch.step})`;
  return providerErrors.Denied({ call, detail: `${detail}${next}` }, error);
}

/** Why an instance that was accepted never ran, by the code of its StateReason. */
const lateRefusals: ReadonlyMap<string, 'no-capacity' | 'quota' | 'denied'> = new Map([
  ['Server.InsufficientInstanceCapacity', 'no-capacity'],
  ['Server.InternalError', 'no-capacity'],
  ['Client.VolumeLimitExceeded', 'quota'],
  // What EC2 says when it may not use the key of an encrypted disk.
  ['Client.InternalError', 'denied'],
  ['Client.InvalidSnapshot.NotFound', 'denied'],
]);

export function lateRefusalOf(reason: { readonly Code?: string | undefined; readonly Message?: string | undefined }) {
  const kind = lateRefusals.get(reason.Code ?? '');
  if (kind === undefined) return undefined;
  return {
    kind,
    ...(reason.Message !== undefined && { detail: reason.Message }),
    ...(kind === 'quota' && { closes: 'region' as const }),
  };
}
