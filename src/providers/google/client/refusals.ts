import { type Closing, providerErrors } from '../../errors.ts';
import type { LateRefusal } from '../../provider.ts';
import { googleErrors } from '../errors.ts';

/** What a call is about, for its error. */
export interface AboutGoogleCall {
  /** Google's own name of the method, such as `instances.insert`. */
  readonly call: string;
  /** The node type of a launch. */
  readonly type?: string;
  readonly zone?: string | undefined;
  readonly market?: string;
  readonly id?: string;
}

/** A refusal in Google's own words: of a call, or of an operation that it began. */
export class GoogleFailure extends Error {
  /** Of the HTTP response; 0 for an operation of the newer APIs. */
  readonly status: number;
  /** `ZONE_RESOURCE_POOL_EXHAUSTED`, `rateLimitExceeded`, `PERMISSION_DENIED`. */
  readonly reason: string;
  /** `google.rpc.ErrorInfo` and the like. */
  readonly details: readonly Detail[];

  constructor(status: number, reason: string, message: string, details: readonly Detail[] = []) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

export interface Detail {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly quotaInfo?: { readonly dimensions?: Readonly<Record<string, string>> };
}

interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly status?: string;
    readonly errors?: readonly { readonly reason?: string }[];
    readonly details?: readonly Detail[];
  };
}

/** The failure that the body of a response tells. */
export function failureOf(status: number, body: unknown): GoogleFailure {
  const told = typeof body === 'object' && body !== null ? (body as ErrorBody).error : undefined;
  const info = told?.details?.find(({ reason }) => reason === 'SERVICE_DISABLED');
  const reason = info?.reason ?? told?.errors?.[0]?.reason ?? told?.status ?? '';
  return new GoogleFailure(status, reason, told?.message ?? `HTTP ${status}`, told?.details ?? []);
}

/** Google's refusal that an error was made from. Undefined where Google did not answer. */
export function googleFailure(error: unknown): GoogleFailure | undefined {
  if (error instanceof GoogleFailure) return error;
  return error instanceof Error && error.cause !== undefined ? googleFailure(error.cause) : undefined;
}

type Branch = 'next-offer' | 'quota' | 'throttled' | 'not-found' | 'lost' | 'login' | 'denied';

/** By Google's reason. What is not here is judged by the status. */
const branches: ReadonlyMap<string, Branch> = new Map([
  ['ZONE_RESOURCE_POOL_EXHAUSTED', 'next-offer'],
  ['ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', 'next-offer'],
  ['STOCKOUT', 'next-offer'],
  ['INTERNAL_ERROR', 'next-offer'],
  ['QUOTA_EXCEEDED', 'quota'],
  ['quotaExceeded', 'quota'],
  ['rateLimitExceeded', 'throttled'],
  ['userRateLimitExceeded', 'throttled'],
  ['RESOURCE_OPERATION_RATE_EXCEEDED', 'throttled'],
  ['SERVICE_DISABLED', 'denied'],
]);

const byStatus: ReadonlyMap<number, Branch> = new Map([
  [401, 'login'],
  [404, 'not-found'],
  [429, 'throttled'],
  [503, 'throttled'],
]);

/** The newer APIs tell a quota and too many calls by the same codes: only the words differ. */
const tpuQuota = /Quota limit '([^']*)' has been exceeded/;

function branchOf(failure: GoogleFailure): Branch {
  const { reason, status, message } = failure;
  if (tpuQuota.test(message)) return 'quota';
  const known = branches.get(reason) ?? byStatus.get(status);
  // Operations of the newer APIs: RESOURCE_EXHAUSTED is capacity unless it names a quota.
  if (known === undefined && status === 0)
    return reason === '8' ? 'next-offer' : reason === '14' ? 'throttled' : 'denied';
  return known ?? (status >= 500 ? 'lost' : 'denied');
}

export const isThrottle = (error: unknown): boolean => {
  const failure = googleFailure(error);
  return failure !== undefined && branchOf(failure) === 'throttled';
};

/** What a quota closes, as far as Google names it. */
function closingOf({ details, message }: GoogleFailure): Closing {
  const tpu = tpuQuota.exec(message)?.[1];
  if (tpu !== undefined) return /PerZone/.test(tpu) ? 'zone' : /PerRegion/.test(tpu) ? 'region' : 'project';
  const dimensions = details.find(({ quotaInfo }) => quotaInfo !== undefined)?.quotaInfo?.dimensions;
  if (dimensions !== undefined)
    return dimensions['zone'] !== undefined ? 'zone' : dimensions['region'] !== undefined ? 'region' : 'project';
  // Older answers name the metric alone.
  return /_ALL_REGIONS\b/.test(message) ? 'project' : 'region';
}

/** The kind of error that tells the caller what to do next. */
export function refusalOf(about: AboutGoogleCall, error: unknown): Error {
  const { call, type = '', zone, market, id } = about;
  const failure = googleFailure(error);
  if (failure === undefined)
    return providerErrors.Unreachable({ call, detail: error instanceof Error ? error.message : String(error) }, error);
  const detail = failure.message;
  switch (branchOf(failure)) {
    case 'next-offer':
      return providerErrors.NoCapacity({ type, zone, market, detail }, error);
    case 'quota':
      return providerErrors.Quota({ type, zone, market, detail, closes: closingOf(failure) }, error);
    case 'throttled':
      return providerErrors.Throttled({ call, detail }, error);
    case 'lost':
      return providerErrors.Unreachable({ call, detail }, error);
    case 'login':
      return googleErrors.LoginExpired({ detail }, error);
    case 'not-found':
      if (id !== undefined) return providerErrors.NotFound({ id }, error);
      return providerErrors.Denied({ call, detail }, error);
    case 'denied':
      return providerErrors.Denied({ call, detail: `${detail}${nextStep(failure)}` }, error);
  }
}

/** What the reader can do, where Google names what is missing. */
function nextStep({ reason, details, message }: GoogleFailure): string {
  const metadata = details.find((each) => each.metadata !== undefined)?.metadata ?? {};
  if (reason === 'SERVICE_DISABLED') {
    const { service, consumer = '' } = metadata;
    return ` (run 'gcloud services enable ${service} --project ${consumer.replace(/^projects\//, '')}')`;
  }
  const { permission } = metadata;
  if (permission !== undefined && !message.includes(permission)) return ` (the permission ${permission} is missing)`;
  const [, constraint] = /\b(constraints\/[\w.]+)/.exec(message) ?? [];
  return constraint === undefined ? '' : ` (the organization policy ${constraint} forbids it)`;
}

/** Why an instance that was accepted never ran. */
export function lateRefusalOf(failure: GoogleFailure): LateRefusal {
  const { message: detail } = failure;
  switch (branchOf(failure)) {
    case 'quota':
      return { kind: 'quota', detail, closes: closingOf(failure) };
    case 'denied':
    case 'login':
      return { kind: 'denied', detail };
    default:
      return { kind: 'no-capacity', detail };
  }
}
