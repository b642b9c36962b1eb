import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** What of a request goes on to Ray. Nothing else does: no credential, no cookie, nothing of one connection. */
const passedOn = [
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
];

/** By Ray's own rule a browser's: a newer Ray then masks the values of `env_vars`. */
const masking = 'Mozilla/5.0 (manta)';

export interface Upstream {
  readonly host: string;
  readonly token?: string;
  /** For somebody who may not see what jobs of others were given. */
  readonly masked: boolean;
}

/** The headers of a request as Ray gets it, but for those that say how long the body is. */
export function headersForRay(given: IncomingHttpHeaders, { host, token, masked }: Upstream): Record<string, string> {
  const headers: Record<string, string> = { host };
  for (const name of passedOn) {
    const value = given[name];
    if (typeof value === 'string') headers[name] = value;
  }
  headers['user-agent'] = masked ? masking : (given['user-agent'] ?? 'manta');
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  return headers;
}

/** Of one connection, not of the message; a cookie of Ray's would hold its token. */
const keptBack = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);

/** The headers of Ray's answer as the client gets it. */
export function headersForClient(answer: IncomingMessage, path: string): Record<string, string | string[]> {
  const named = (answer.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined && !keptBack.has(name) && !named.includes(name)) headers[name] = value;
  headers['x-content-type-options'] = 'nosniff';
  // Flame graphs and files of jobs are documents too: opened on their own they must not act as the page's user.
  headers['content-security-policy'] =
    path === '/' || path.startsWith('/static/') ? "frame-ancestors 'none'" : 'sandbox allow-scripts';
  return headers;
}

const onlyOnce = ['host', 'content-length', 'transfer-encoding', 'authorization', 'x-ray-authorization'];

/** What makes a request one that two readers could cut or judge differently; undefined when nothing does. */
export function ambiguityOf({ rawHeaders, headers }: IncomingMessage): string | undefined {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const twice = onlyOnce.find((name) => names.filter((each) => each === name).length > 1);
  if (twice !== undefined) return `more than one '${twice}' header`;
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  if (encoding !== undefined && (length !== undefined || encoding.toLowerCase() !== 'chunked'))
    return 'the body length is given in more than one way';
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return 'the body length is not a number';
  return undefined;
}
