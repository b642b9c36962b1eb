import { CloudError } from '../cloud/errors.ts';
import { statusOf } from './operations.ts';

interface Kind {
  readonly status: number;
  /** As the newer APIs call it. */
  readonly canonical: string;
  readonly domain?: string;
  /** Of the newer APIs, where it is another one. */
  readonly newer?: number;
}

/** Reasons, as Compute Engine calls them; what the newer APIs call them, and with which status. */
const kinds = {
  invalid: { status: 400, canonical: 'INVALID_ARGUMENT' },
  required: { status: 400, canonical: 'INVALID_ARGUMENT' },
  failedPrecondition: { status: 400, canonical: 'FAILED_PRECONDITION' },
  resourceNotReady: { status: 400, canonical: 'FAILED_PRECONDITION' },
  resourceInUseByAnotherResource: { status: 400, canonical: 'FAILED_PRECONDITION' },
  authError: { status: 401, canonical: 'UNAUTHENTICATED' },
  forbidden: { status: 403, canonical: 'PERMISSION_DENIED' },
  insufficientPermissions: { status: 403, canonical: 'PERMISSION_DENIED' },
  accessNotConfigured: { status: 403, canonical: 'PERMISSION_DENIED', domain: 'usageLimits' },
  rateLimitExceeded: { status: 403, canonical: 'RESOURCE_EXHAUSTED', domain: 'usageLimits', newer: 429 },
  quotaExceeded: { status: 403, canonical: 'RESOURCE_EXHAUSTED', domain: 'usageLimits', newer: 429 },
  resourceExhausted: { status: 429, canonical: 'RESOURCE_EXHAUSTED' },
  notFound: { status: 404, canonical: 'NOT_FOUND' },
  alreadyExists: { status: 409, canonical: 'ALREADY_EXISTS' },
  aborted: { status: 409, canonical: 'ABORTED' },
  conditionNotMet: { status: 412, canonical: 'FAILED_PRECONDITION', newer: 400 },
  uploadTooLarge: { status: 413, canonical: 'INVALID_ARGUMENT' },
  notImplemented: { status: 501, canonical: 'UNIMPLEMENTED' },
  backendError: { status: 503, canonical: 'UNAVAILABLE' },
} as const satisfies Readonly<Record<string, Kind>>;
export type Reason = keyof typeof kinds;

export interface Detail {
  readonly '@type': string;
  readonly [key: string]: unknown;
}

/** An error in Google's own words. */
export class GoogleError extends CloudError {
  readonly kind: Kind;
  readonly details: readonly Detail[];

  constructor(reason: string, kind: Kind, message: string, details: readonly Detail[]) {
    super(kind.status, reason, message);
    this.kind = kind;
    this.details = details;
  }
}

export const googleError = (reason: Reason, message: string, ...details: readonly Detail[]): GoogleError =>
  new GoogleError(reason, kinds[reason], message, details);

export const errorInfo = (reason: string, domain: string, metadata: Readonly<Record<string, string>> = {}): Detail => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  metadata,
});

const titles: Readonly<Record<string, string>> = {
  compute: 'Compute Engine API',
  tpu: 'Cloud TPU API',
  iam: 'Identity and Access Management (IAM) API',
  cloudresourcemanager: 'Cloud Resource Manager API',
  oslogin: 'Cloud OS Login API',
};

/** The API is switched off in the project. */
export function serviceDisabled(api: string, project: number): GoogleError {
  const service = `${api}.googleapis.com`;
  const url = `https://console.developers.google.com/apis/api/${service}/overview?project=${project}`;
  return googleError(
    'accessNotConfigured',
    `${titles[api] ?? service} has not been used in project ${project} before or it is disabled. Enable it by visiting ${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`,
    {
      '@type': 'type.googleapis.com/google.rpc.Help',
      links: [{ description: 'Google developers console API activation', url }],
    },
    errorInfo('SERVICE_DISABLED', 'googleapis.com', { service, consumer: `projects/${project}` }),
  );
}

/** What `refuse` names by another word than a reason. */
const otherWords: Readonly<Record<string, Reason>> = {
  RESOURCE_EXHAUSTED: 'resourceExhausted',
  UNAVAILABLE: 'backendError',
  PERMISSION_DENIED: 'forbidden',
  NOT_FOUND: 'notFound',
  ALREADY_EXISTS: 'alreadyExists',
  ABORTED: 'aborted',
  FAILED_PRECONDITION: 'failedPrecondition',
  UNAUTHENTICATED: 'authError',
};

/** An error of the cloud itself, in the words of an API. One that is in Google's words stays. */
export function inWordsOf(api: string, project: { readonly number: number }, error: CloudError): GoogleError {
  if (error instanceof GoogleError) return error;
  switch (error.code) {
    case 'Throttled':
      return googleError(
        'rateLimitExceeded',
        `Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service '${api}.googleapis.com' for consumer 'project_number:${project.number}'.`,
        errorInfo('RATE_LIMIT_EXCEEDED', 'googleapis.com', { service: `${api}.googleapis.com` }),
      );
    case 'InternalError':
      return googleError('backendError', error.message);
    case 'AccessDenied':
      return googleError('forbidden', error.message);
    case 'IncorrectState':
      return googleError('resourceNotReady', error.message);
    case 'InvalidParameter':
      return googleError('invalid', error.message);
    case 'NotFound':
      return googleError('notFound', error.message);
    case 'SERVICE_DISABLED':
      return serviceDisabled(api, project.number);
    default: {
      const reason = Object.hasOwn(kinds, error.code) ? (error.code as Reason) : otherWords[error.code];
      if (reason !== undefined) return googleError(reason, error.message);
      return new GoogleError(error.code, { status: statusOf(error.code)[0], canonical: error.code }, error.message, []);
    }
  }
}

/** The body of an error, as the older API writes it and as the newer ones do, with its status. */
export function writeError(api: string, error: GoogleError): { readonly status: number; readonly body: object } {
  const { kind, code, message, details } = error;
  const more = details.length > 0 && { details };
  if (api === 'compute') {
    const entry = { message, domain: kind.domain ?? 'global', reason: code };
    const status = details.length > 0 && { status: kind.canonical };
    return {
      status: kind.status,
      body: { error: { code: kind.status, message, errors: [entry], ...status, ...more } },
    };
  }
  const status = kind.newer ?? kind.status;
  return { status, body: { error: { code: status, message, status: kind.canonical, ...more } } };
}
