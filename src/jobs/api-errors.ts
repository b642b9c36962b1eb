import { defineError } from '../base/errors.ts';

/** What the HTTP API of a head answers before anybody looks at what was asked, and who may ask it. */
export const apiErrors = {
  Unauthenticated: defineError({
    code: 'MANTA_API_UNAUTHENTICATED',
    exit: 4,
    message: () => 'the request carries no token',
    hint: () => "send it as 'Authorization: Bearer TOKEN'; 'manta env' prints yours",
  }),
  Denied: defineError({
    code: 'MANTA_API_DENIED',
    exit: 4,
    message: () => 'the token of the request is not valid: it was revoked, has expired, or belongs to another cluster',
    hint: () => "'manta env' prints a valid one",
  }),
  TooManyRefused: defineError<{ seconds: number }>({
    code: 'MANTA_API_TOO_MANY_REFUSED',
    exit: 4,
    message: (e) => `the token of the request is not valid, and there were too many such requests: wait ${e.seconds} s`,
    hint: () => "'manta env' prints a valid one, which is taken at once",
  }),
  TooManyStreams: defineError({
    code: 'MANTA_API_TOO_MANY_STREAMS',
    exit: 6,
    message: () => 'this user has too many streams open',
    hint: () => 'close a page or a command that follows, and try again',
  }),
  UnknownHost: defineError<{ host: string }>({
    code: 'MANTA_API_UNKNOWN_HOST',
    exit: 4,
    message: (e) => `the head does not answer under the name '${e.host}'`,
    hint: () => 'ask it as 127.0.0.1 or localhost; from elsewhere through a tunnel',
  }),
  CrossSite: defineError({
    code: 'MANTA_API_CROSS_SITE',
    exit: 4,
    message: () => 'the request comes from a page of another site, or does not say where from',
    hint: () => 'programs send a token in a header, not a cookie',
  }),
  Browser: defineError<{ method: string }>({
    code: 'MANTA_API_BROWSER',
    exit: 4,
    message: (e) => `a browser may not send ${e.method} to this path`,
  }),
  NotFound: defineError<{ method: string; path: string }>({
    code: 'MANTA_API_NOT_FOUND',
    exit: 1,
    message: (e) => `there is nothing at ${e.method} ${e.path}`,
    hint: () => "'/api/manta/v1/openapi.json' and docs/api.md list what there is",
  }),
  BadValue: defineError<{ field: string; problem: string }>({
    code: 'MANTA_API_BAD_VALUE',
    exit: 2,
    message: (e) => `${e.field} ${e.problem}`,
    hint: () => "'/api/manta/v1/openapi.json' says what each value may be",
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
    hint: () => "'manta user list' shows who is one",
  }),
};
