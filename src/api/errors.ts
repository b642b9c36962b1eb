import { defineError } from '../base/errors.ts';

/** What the HTTP API of a head answers before it looks at the request itself, and when the caller may not ask. */
export const apiErrors = {
  Unauthenticated: defineError({
    code: 'MANTA_API_UNAUTHENTICATED',
    exit: 4,
    message: () => 'the request has no token',
    hint: () => "send 'Authorization: Bearer TOKEN'; 'manta env' prints your token",
  }),
  Denied: defineError({
    code: 'MANTA_API_DENIED',
    exit: 4,
    message: () => 'invalid token: it was revoked, has expired, or belongs to another cluster',
    hint: () => "'manta env' prints a valid one",
  }),
  TooManyRefused: defineError<{ seconds: number }>({
    code: 'MANTA_API_TOO_MANY_REFUSED',
    exit: 4,
    message: (e) => `invalid token, and too many failed attempts: wait ${e.seconds} s`,
    hint: () => "'manta env' prints a valid token, which works at once",
  }),
  TooManyStreams: defineError({
    code: 'MANTA_API_TOO_MANY_STREAMS',
    exit: 6,
    message: () => 'this user has too many open streams',
    hint: () => 'close a browser tab or a command that follows logs, then try again',
  }),
  UnknownHost: defineError<{ host: string }>({
    code: 'MANTA_API_UNKNOWN_HOST',
    exit: 4,
    message: (e) => `the head does not serve the host name '${e.host}'`,
    hint: () => 'use 127.0.0.1 or localhost; from another machine, use a tunnel',
  }),
  CrossSite: defineError({
    code: 'MANTA_API_CROSS_SITE',
    exit: 4,
    message: () => 'the request comes from another site, or does not name its origin',
    hint: () => 'send the token in a header, not in a cookie',
  }),
  Browser: defineError<{ method: string }>({
    code: 'MANTA_API_BROWSER',
    exit: 4,
    message: (e) => `a browser may not send ${e.method} to this path`,
  }),
  NotFound: defineError<{ method: string; path: string }>({
    code: 'MANTA_API_NOT_FOUND',
    exit: 1,
    message: (e) => `no such route: ${e.method} ${e.path}`,
    hint: () => "'/api/manta/v1/openapi.json' and docs/api.md list the routes",
  }),
  BadValue: defineError<{ field: string; problem: string }>({
    code: 'MANTA_API_BAD_VALUE',
    exit: 2,
    message: (e) => `${e.field} ${e.problem}`,
    hint: () => "'/api/manta/v1/openapi.json' describes the allowed values",
  }),
  TooLarge: defineError<{ limit: number }>({
    code: 'MANTA_API_TOO_LARGE',
    exit: 1,
    message: (e) => `the body is larger than ${e.limit} bytes`,
  }),
  NotYours: defineError<{ job: string; action: string }>({
    code: 'MANTA_API_FORBIDDEN',
    exit: 4,
    message: (e) => `only the owner of job '${e.job}' or an administrator may ${e.action} it`,
  }),
  AdminOnly: defineError<{ action: string }>({
    code: 'MANTA_API_ADMIN_ONLY',
    exit: 4,
    message: (e) => `only an administrator of the cluster may ${e.action}`,
    hint: () => "'manta user list' shows the administrators",
  }),
  Closing: defineError({
    code: 'MANTA_GATEWAY_CLOSING',
    exit: 6,
    message: () => 'mantad is shutting down and accepts no more changes',
    hint: () => 'nothing was done; try again in a moment, when it has restarted',
  }),
};
