/** Where a request goes, in the one spelling that is routed, judged and sent on. */
export interface RequestTarget {
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly query: string;
}

/** Characters that stand for themselves in a part of a path. */
const plain = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/;

/**
 * Reads a request target. Dot segments are resolved, slashes that follow each other are one, each character has one
 * spelling. Undefined for what two readers could take for two things: bytes that are not printable, backslashes, escaped
 * slashes, escapes that are none, a whole URL in place of a path.
 */
export function readTarget(text: string): RequestTarget | undefined {
  if (!text.startsWith('/') || !/^[\x21-\x7e]*$/.test(text) || text.includes('#')) return undefined;
  const at = text.indexOf('?');
  const raw = at < 0 ? text : text.slice(0, at);
  const parts: string[] = [];
  let isFolder = false;
  for (const part of raw.slice(1).split('/')) {
    const spelled = spell(part);
    if (spelled === undefined) return undefined;
    isFolder = spelled === '' || spelled === '.' || spelled === '..';
    if (!isFolder) parts.push(spelled);
    else if (spelled === '..') parts.pop();
  }
  const path = `/${parts.join('/')}${isFolder && parts.length > 0 ? '/' : ''}`;
  return { path, query: at < 0 || at === text.length - 1 ? '' : text.slice(at) };
}

/** One part of a path with each character spelled the one way; undefined when it could be read in two. */
function spell(part: string): string | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    return undefined;
  }
  if (/[\u0000-\u001f\u007f-\u009f/\\]/.test(decoded)) return undefined;
  return [...decoded].map((each) => (plain.test(each) ? each : encodeURIComponent(each))).join('');
}

/** Who answers a path: Manta, under the path given, or the Ray behind it. */
export type GatewayRoute =
  | { readonly to: 'manta'; readonly path: string }
  | { readonly to: 'ray'; readonly path: string }
  | { readonly to: 'elsewhere'; readonly location: string };

/** Below these nothing of Ray's is ever reached through the gateway. */
const ownFolders = ['/manta', '/api/manta', '/api/jobs', '/api/packages'];
const ownPaths = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/version',
  '/api/ray/version',
  '/api/authenticate',
  '/api/authentication_mode',
  '/api/healthz',
  '/api/local_raylet_healthz',
  '/api/component_activities',
  '/-/healthz',
]);

/**
 * Manta's page and everything of Manta's also stands below `/manta/`; where a Ray is behind the same address, that is the
 * only place of the page. Capital letters make no other path of Manta's: what is spelled like one never goes to Ray.
 */
export function routeOf({ path, query }: RequestTarget, hasRay: boolean): GatewayRoute {
  if (path === '/manta') return { to: 'elsewhere', location: `/manta/${query}` };
  if (path.startsWith('/manta/')) return { to: 'manta', path: path.slice('/manta'.length) };
  const folded = path.toLowerCase();
  const isOwn =
    ownPaths.has(folded) || ownFolders.some((folder) => folded === folder || folded.startsWith(`${folder}/`));
  // The link of `manta dashboard` signs in, at Ray's page too.
  const isLink = path === '/' && query.startsWith('?ticket=');
  return hasRay && !isOwn && !isLink ? { to: 'ray', path } : { to: 'manta', path };
}
