import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { apiErrors } from '../../api/errors.ts';
import type { MantaError } from '../../base/errors.ts';
import type { Clock } from '../../base/time/clock.ts';
import { errorAnswer } from '../api-answer.ts';
import type { SignIns } from './sign-ins.ts';
import { ifRevoked, sessionLife, type User, type Users } from './users.ts';

export interface AuthDeps {
  readonly users: Users;
  readonly clock: Clock;
  readonly signIns: SignIns;
  /** Host names, without port, under which the server may be asked; everything else is DNS rebinding. */
  readonly hosts: ReadonlySet<string>;
  /** Cookies are shared by all ports of a host: each cluster has a name of its own. */
  readonly cookie: string;
  /** Paths that need no token, besides those that Ray leaves open: page, health, metrics. */
  readonly isPublic: (path: string) => boolean;
}

export interface JobsEnv {
  Variables: { user: User };
}

export const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Bounds for the HTTP server that carries these routes. */
export const serverLimits = {
  maxHeaderSize: 32 << 10,
  headersTimeout: 20_000,
  bodyBytes: 2 << 20,
  /** How long a body may stop coming. How long all of it takes is limited by nothing: packages are large, lines slow. */
  bodySilence: 60_000,
} as const;

/** Open in Ray too: its clients ask them before they have a token. */
const rayPublic = new Set([
  '/api/authentication_mode',
  '/api/authenticate',
  '/api/healthz',
  '/api/gcs_healthz',
  '/api/local_raylet_healthz',
  '/-/healthz',
]);
const rayCookie = 'ray-authentication-token';

/** What a request carries, wherever it comes from (hono or a raw upgrade). */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
  readonly cookie: (name: string) => string | undefined;
}

export type Verdict = { readonly user?: User } | AuthRefusal;

export interface AuthRefusal {
  readonly status: 401 | 403 | 405 | 429;
  /** Seconds after which it may be tried again. */
  readonly retryAfter?: number;
  /** In Ray's words, for Ray's paths. */
  readonly text: string;
  /** For Manta's. */
  readonly error: MantaError;
}

const missing: AuthRefusal = {
  status: 401,
  text: 'Unauthorized: Missing authentication token',
  error: apiErrors.Unauthenticated({}),
};
const invalid: AuthRefusal = {
  status: 403,
  text: 'Forbidden: Invalid authentication token',
  error: apiErrors.Denied({}),
};

/** For a token that is not valid, or no longer. */
function invalidFor({ signIns }: AuthDeps, byCookie: boolean): AuthRefusal {
  const seconds = signIns.failed({ byCookie });
  if (seconds === undefined) return invalid;
  const error = apiErrors.TooManyRefused({ seconds });
  return { status: 429, retryAfter: seconds, text: `Too many requests: ${error.message}`, error };
}

const crossSite = (text: string): AuthRefusal => ({ status: 403, text, error: apiErrors.CrossSite({}) });

/** Whether a request may go on, and for whom. */
export function judge(request: RequestHead, deps: AuthDeps): Verdict {
  const host = request.header('host') ?? '';
  if (!deps.hosts.has(host.replace(/:\d+$/, '').toLowerCase())) {
    const shown = host.slice(0, 100);
    return {
      status: 403,
      text: `Forbidden: unknown host '${shown}'`,
      error: apiErrors.UnknownHost({ host: shown }),
    };
  }
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
  const own = request.path.startsWith('/api/manta/') || request.path === '/api/authenticate';
  if (changes && !own && isBrowser(request)) {
    const { method } = request;
    const text = `'${method}' method not allowed for browser traffic.`;
    return { status: 405, text, error: apiErrors.Browser({ method }) };
  }
  if ((changes || request.header('upgrade') !== undefined) && !sameOrigin(request, host))
    return crossSite('Forbidden: cross-origin request');
  if (rayPublic.has(request.path) || deps.isPublic(request.path)) return {};
  const given = credentialOf(request, deps.cookie);
  if (given === undefined) return missing;
  const user = userOf(given, deps);
  if (!user) return invalidFor(deps, given.byCookie);
  if (
    given.byCookie &&
    changes &&
    request.header('origin') === undefined &&
    request.header('sec-fetch-site') === undefined
  ) {
    return crossSite('Forbidden: a cookie alone does not authorise a change');
  }
  return { user };
}

/** Who shows a valid token, on whatever path: what they may do there is for `judge` to say. */
export function clientOf(request: RequestHead, deps: Pick<AuthDeps, 'users' | 'cookie'>): User | undefined {
  const given = credentialOf(request, deps.cookie);
  return given && userOf(given, deps);
}

const userOf = ({ token }: { readonly token: string }, { users }: Pick<AuthDeps, 'users'>): User | undefined =>
  token === '' ? undefined : users.byToken(token);

/** As Ray: `Authorization`, else `X-Ray-Authorization`, else a cookie. */
function credentialOf(request: RequestHead, cookie: string): { token: string; byCookie: boolean } | undefined {
  const header = request.header('authorization') || request.header('x-ray-authorization');
  if (header)
    return { token: header.startsWith('Bearer ') ? header.slice('Bearer '.length).trim() : '', byCookie: false };
  const token = request.cookie(cookie) ?? request.cookie(rayCookie);
  return token ? { token, byCookie: true } : undefined;
}

const browserHeaders = [
  'referer',
  'origin',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-site',
  'sec-fetch-user',
  'access-control-request-method',
  'access-control-request-headers',
];

/** Ray's own test. */
const isBrowser = (request: RequestHead): boolean =>
  (request.header('user-agent') ?? '').startsWith('Mozilla') ||
  browserHeaders.some((name) => request.header(name) !== undefined);

function sameOrigin(request: RequestHead, host: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const origin = request.header('origin');
  if (origin === undefined) return true;
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false;
  }
}

/** Holds every route behind it to the rules above. */
export function guard(deps: AuthDeps): MiddlewareHandler<JobsEnv> {
  return async (c, next) => {
    const verdict = judge(headOf(c), deps);
    if ('status' in verdict) return refuse(c, verdict);
    if (verdict.user) {
      c.set('user', verdict.user);
      endWhenRevoked(c, deps.users, verdict.user);
    }
    await next();
  };
}

/** A follow or an event stream may be open for days; it is cut when its user is revoked. */
function endWhenRevoked(c: Context, users: Users, user: User): void {
  const { outgoing } = (c.env ?? {}) as { outgoing?: ServerResponse };
  // Anyone who revokes themselves hears that it was done.
  const isOwnEnd = c.req.method === 'DELETE' && c.req.path === `/api/manta/v1/users/${encodeURIComponent(user.name)}`;
  if (outgoing === undefined || isOwnEnd) return;
  const release = users.whileValid(user.name, () => outgoing.destroy());
  outgoing.once('close', release);
}

const headOf = (c: Context): RequestHead => ({
  method: c.req.method,
  path: c.req.path,
  header: (name) => c.req.header(name),
  cookie: (name) => getCookie(c, name),
});

/** What a message carries that no route of the app has seen; its path as the caller reads it. */
export const headOfMessage = ({ method = '', headers }: IncomingMessage, path: string): RequestHead => ({
  method,
  path,
  header: (name) => [headers[name]].flat()[0],
  cookie: (name) => cookieOf(headers.cookie ?? '', name),
});

function cookieOf(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Plain text on Ray's paths, an error object on Manta's. */
function refuse(c: Context, { status, text, error, retryAfter }: AuthRefusal): Response {
  if (retryAfter !== undefined) c.header('retry-after', String(retryAfter));
  return c.req.path.startsWith('/api/manta/') ? errorAnswer(c, error, status) : c.text(text, status);
}

/** Exchanges the token in the request for a session cookie that scripts cannot read. */
export async function authenticate(c: Context, deps: AuthDeps): Promise<Response> {
  const given = credentialOf(headOf(c), '');
  if (!given) return c.text(missing.text, missing.status);
  const user = userOf(given, deps);
  if (!user) return refuse(c, invalidFor(deps, false));
  const session = await deps.users.issue(user.name, deps.clock.now() + sessionLife).catch(ifRevoked);
  if (session === undefined) return refuse(c, invalid);
  setSession(c, deps, session);
  return c.json({ status: 'authenticated', message: 'Token is valid' });
}

/** Turns the one-time ticket of a link into a session; false when the ticket is spent, old or made up. */
export async function redeemTicket(c: Context, deps: AuthDeps, ticket: string): Promise<boolean | Response> {
  const session = await deps.users.redeemTicket(ticket);
  if (session === undefined) {
    const refused = invalidFor(deps, false);
    return refused.status === 429 && refuse(c, refused);
  }
  setSession(c, deps, session);
  return true;
}

function setSession(c: Context, deps: AuthDeps, session: string): void {
  setCookie(c, deps.cookie, session, {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    maxAge: sessionLife / 1_000,
    secure: c.req.url.startsWith('https:'),
  });
}
