/** What clients ask Google for that no discovery document has: tokens, documents, boundaries. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { GoogleApi } from '../../scripts/google-discovery.ts';
import { identityKeys, OauthError } from './access/tokens.ts';
import { isArtifactHost, serveArtifacts } from './artifacts.ts';
import { documentOf } from './discovery.ts';
import { send } from './send.ts';
import type { GoogleWorld } from './world.ts';

export interface OtherRequest {
  readonly host: string;
  readonly url: URL;
  readonly verb: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const documents: readonly (readonly [RegExp, GoogleApi])[] = [
  // Ray's client of TPUs asks for the document without a version.
  [/^tpu\..*\/\$discovery\/rest(?!.*version=v2$)/, 'tpu.v2alpha1'],
  [/^tpu\..*\/\$discovery\/rest.*version=v2$/, 'tpu.v2'],
  [/^compute\..*\/\$discovery\/rest|\/discovery\/v1\/apis\/compute\/v1\/rest/, 'compute.v1'],
  [/^iam\..*\/\$discovery\/rest/, 'iam.v1'],
  [/^cloudresourcemanager\..*\/\$discovery\/rest/, 'cloudresourcemanager.v1'],
  [/^oslogin\..*\/\$discovery\/rest/, 'oslogin.v1'],
];

export function serveOther(world: GoogleWorld, asked: OtherRequest, response: ServerResponse): void {
  const { host, url, verb, body } = asked;
  if (isArtifactHost(host)) return serveArtifacts(world, asked, response);
  const path = url.pathname;
  const say = (value: unknown, status = 200): void => send(response, status, JSON.stringify(value, undefined, 2));
  if (verb === 'POST' && /^\/(?:token|o\/oauth2\/token|oauth2\/v4\/token|v1\/token)$/.test(path)) {
    const form = new URLSearchParams(body);
    try {
      say(host.startsWith('sts.') ? world.workloads.exchange(form) : world.tokens.exchange(form));
    } catch (error) {
      if (!(error instanceof OauthError)) throw error;
      say({ error: error.code, error_description: error.message }, error.status);
    }
    return;
  }
  if (verb === 'GET' && /\/serviceAccounts\/[^/]+\/allowedLocations$/.test(path))
    return say({ locations: [], encodedLocations: '0x0' });
  const impersonated = /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/.exec(path)?.[1];
  if (verb === 'POST' && impersonated !== undefined) return impersonate(world, impersonated, asked, say);
  if (verb === 'GET' && /^\/oauth2\/v[123]\/certs$/.test(path)) return say(identityKeys());
  if (/^\/(?:tokeninfo|oauth2\/v[123]\/(?:tokeninfo|userinfo)|v1\/userinfo)$/.test(path))
    return aboutToken(world, asked, say);
  const document = documents.find(([pattern]) => pattern.test(`${host}${path}${url.search}`));
  if (verb === 'GET' && document !== undefined) return say(documentOf(document[1]));
  const message = `The requested URL ${path} was not found on this server.`;
  say({ error: { code: 404, message, status: 'NOT_FOUND' } }, 404);
}

function impersonate(
  world: GoogleWorld,
  email: string,
  { body, headers }: OtherRequest,
  say: (value: unknown, status?: number) => void,
): void {
  const bearer = world.tokens.holder(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
  const { scope = [] } = JSON.parse(body) as { readonly scope?: readonly string[] };
  const accessToken = bearer && world.workloads.takeOn(bearer.email, email, scope);
  if (accessToken !== undefined)
    return say({ accessToken, expireTime: new Date(world.now() + 1000 * world.tokens.lifetime).toISOString() });
  const message = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";
  say({ error: { code: 403, message, status: 'PERMISSION_DENIED' } }, 403);
}

function aboutToken(
  world: GoogleWorld,
  { url, body, headers }: OtherRequest,
  say: (value: unknown, status?: number) => void,
): void {
  const given = new URLSearchParams(body).get('access_token') ?? url.searchParams.get('access_token');
  const token = given ?? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const bearer = world.tokens.holder(token);
  if (bearer === undefined) return say({ error: 'invalid_token', error_description: 'Invalid Value' }, 400);
  const { email, scopes, until } = bearer;
  say({ email, email_verified: 'true', scope: scopes.join(' '), expires_in: Math.floor((until - world.now()) / 1000) });
}
