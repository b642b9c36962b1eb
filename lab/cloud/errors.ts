import type { Quotas } from './settings.ts';

export type QuotaName = keyof Quotas;

/** What the cloud answers instead of what was asked for. */
export class CloudError extends Error {
  readonly status: number;
  readonly code: string;
  /** When to ask again, in seconds. */
  readonly retryAfter: number | undefined;
  /** Of a quota: which one. */
  quota: QuotaName | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export const cloudErrors = {
  invalid: (message: string) => new CloudError(400, 'InvalidParameter', message),
  unauthorized: () => new CloudError(401, 'Unauthorized', 'the token is missing or not known'),
  denied: (message = 'the account may not do this') => new CloudError(403, 'AccessDenied', message),
  quota: (message: string, quota?: QuotaName) => {
    const error = new CloudError(403, 'QuotaExceeded', message);
    error.quota = quota;
    return error;
  },
  notFound: (what: string) => new CloudError(404, 'NotFound', `there is no ${what}`),
  noSuchPath: (path: string) => new CloudError(404, 'NoSuchPath', `nothing is at ${path}`),
  tokenReused: (token: string) =>
    new CloudError(409, 'ClientTokenReused', `client token '${token}' stands for another request`),
  wrongState: (id: string, state: string) => new CloudError(409, 'IncorrectState', `instance ${id} is ${state}`),
  noCapacity: (message: string) => new CloudError(409, 'InsufficientCapacity', message),
  throttled: (message = 'too many calls') => new CloudError(429, 'Throttled', message, 1),
  internal: (message = 'something went wrong inside') => new CloudError(500, 'InternalError', message),
};
