/** Artifact Registry: images of containers for those who may read them, by the protocol of registries. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { OtherRequest } from './other-paths.ts';
import { send } from './send.ts';
import type { GoogleWorld } from './world.ts';

/** An image of a registry's storage on disk, `lab/ray:1`. */
export interface StoredImage {
  readonly store: string;
  readonly image: string;
}

export const isArtifactHost = (host: string): boolean =>
  /^(?:[a-z0-9-]+-docker\.pkg\.dev|(?:[a-z]+\.)?gcr\.io)$/.test(host);

const permission = 'artifactregistry.repositories.downloadArtifacts';

export function serveArtifacts(world: GoogleWorld, asked: OtherRequest, response: ServerResponse): void {
  const { host, url, verb, headers } = asked;
  const refuse = (status: number, code: string, message: string): void =>
    send(response, status, JSON.stringify({ errors: [{ code, message }] }));
  const [, scheme, given = ''] = /^(Basic|Bearer) (.+)$/.exec(headers.authorization ?? '') ?? [];
  const [user, ...rest] = Buffer.from(given, 'base64').toString().split(':');
  const token = scheme === 'Bearer' ? given : user === 'oauth2accesstoken' ? rest.join(':') : '';
  const bearer = world.tokens.holder(token);
  if (url.pathname === '/v2/token')
    return bearer === undefined && scheme !== undefined
      ? refuse(401, 'UNAUTHORIZED', 'authentication failed')
      : send(response, 200, JSON.stringify({ token: bearer === undefined ? 'nobody' : token, expires_in: 300 }));
  if (scheme === undefined) {
    response.setHeader('www-authenticate', `Bearer realm="https://${host}/v2/token",service="${host}"`);
    return refuse(401, 'UNAUTHORIZED', 'authentication required');
  }
  const [, name, kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (name === undefined) return send(response, 200, '{}');
  const [project = '', repository = ''] = name.split('/');
  if (bearer === undefined || world.project(project)?.allows(bearer.email, permission, 0) !== true)
    return refuse(
      403,
      'DENIED',
      `Permission "${permission}" denied on resource "projects/${project}/repositories/${repository}" (or it may not exist)`,
    );
  const found = [...world.artifacts].find(([each]) => each.startsWith(`${host}/${name}:`));
  if (found === undefined || (kind === 'manifests' && !isNamed(found, reference)))
    return refuse(404, 'MANIFEST_UNKNOWN', `Failed to fetch "${reference}"`);
  const [stored, tag = ''] = found[1].image.split(':');
  const top = join(found[1].store, 'docker/registry/v2');
  const digest = reference.startsWith('sha256:')
    ? reference
    : readFileSync(join(top, 'repositories', stored!, '_manifests/tags', tag, 'current/link'), 'utf8');
  const file = join(top, 'blobs/sha256', digest.slice(7, 9), digest.slice(7), 'data');
  response.writeHead(200, {
    'content-type':
      kind === 'manifests'
        ? (JSON.parse(readFileSync(file, 'utf8')) as { mediaType: string }).mediaType
        : 'application/octet-stream',
    'content-length': statSync(file).size,
    'docker-content-digest': digest,
  });
  if (verb === 'HEAD') response.end();
  else createReadStream(file).pipe(response);
}

const isNamed = ([name]: readonly [string, StoredImage], reference: string): boolean =>
  reference.startsWith('sha256:') || name.endsWith(`:${reference}`);
