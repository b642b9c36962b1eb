import type { Call } from './call-desk.ts';
import type { LaunchAsked } from './call-log.ts';
import { zonesOf } from './catalog.ts';
import type { Cloud } from './cloud.ts';
import { cloudErrors } from './errors.ts';
import type { Asked } from './http.ts';
import type { Login } from './hypervisor.ts';
import type { LaunchBody } from './instance.ts';
import { count, fields, listOf, marketReader, oneOf, type Reader, required, text } from './settings.ts';

const map: Reader<Readonly<Record<string, string>>> = (value, at) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw cloudErrors.invalid(`${at} must be an object`);
  for (const [name, each] of Object.entries(value))
    if (typeof each !== 'string') throw cloudErrors.invalid(`${at}.${name} must be a string`);
  return value as Record<string, string>;
};

const login: Reader<Login> = (value, at) => {
  const read = required(fields<Login>({ user: text, public_key: text })(value, at), ['user', 'public_key'], at);
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(read.user)) throw cloudErrors.invalid(`${at}.user is not a valid user name`);
  if (!/^[\x20-\x7e]+$/.test(read.public_key)) throw cloudErrors.invalid(`${at}.public_key must be one line`);
  return read;
};

const launchBody = fields<LaunchBody>({
  client_token: text,
  machine_type: text,
  zone: text,
  market: marketReader,
  count,
  min_count: count,
  tags: map,
  login,
  user_data: text,
  slice: (value, at) => required(fields<{ hosts: number }>({ hosts: count })(value, at), ['hosts'], at),
  on_shutdown: oneOf<'terminate' | 'stop'>(['terminate', 'stop']),
});

export const readLaunch = (body: unknown): LaunchBody => required(launchBody(body, ''), ['machine_type'], '');

const readIds = (body: unknown): readonly string[] =>
  required(fields<{ ids: readonly string[] }>({ ids: listOf(text) })(body, ''), ['ids'], '').ids;

/** What a request to `/v1` asks for. Throws for what is nothing. */
export function readCall({ method, path, query, body }: Asked, cloud: Cloud, account: string): Call {
  const [version, noun, id, verb] = path;
  const at = `${method} /${path.map(encodeURIComponent).join('/')}`;
  if (version !== 'v1' || path.length > 4) throw cloudErrors.noSuchPath(at);
  const route = [
    method,
    noun,
    id === undefined ? '' : id === 'terminate' && method === 'POST' && !verb ? id : ':id',
    verb ?? '',
  ]
    .join(' ')
    .trimEnd();
  switch (route) {
    case 'POST instances': {
      const launch = readLaunch(body);
      return {
        name: 'launch',
        asked: askedOf(launch),
        make: () => ({ instances: cloud.launch(account, launch) }),
        instances: (made) => (made as { instances: { id: string }[] }).instances.map((each) => each.id),
      };
    }
    case 'GET instances': {
      const tags = Object.fromEntries(
        [...query].flatMap(([key, value]) => (key.startsWith('tag.') ? [[key.slice(4), value]] : [])),
      );
      const size = query.get('page_size');
      const pageSize = size === null ? undefined : count(Number(size), 'page_size');
      const pageToken = query.get('page_token') ?? undefined;
      return { name: 'list', make: () => cloud.list(account, { tags, pageSize, pageToken }) };
    }
    case 'GET instances :id':
      return { name: 'get', make: () => cloud.get(account, id!) };
    case 'POST instances terminate': {
      const ids = readIds(body);
      return {
        name: 'terminate',
        make: () => cloud.terminate(account, ids),
        instances: (ended) => (ended as { terminating: string[] }).terminating,
      };
    }
    case 'POST instances :id tags': {
      const tags = map(body, 'the body');
      return { name: 'tag', make: () => cloud.tag(account, id!, tags) };
    }
    case 'POST instances :id stop':
      return { name: 'stop', make: () => cloud.stop(account, id!) };
    case 'POST instances :id start':
      return { name: 'start', make: () => cloud.start(account, id!) };
    case 'GET instances :id console':
      return { name: 'console', make: () => ({ output: cloud.console(account, id!) }) };
    case 'GET machine-types':
      return { name: 'machine-types', make: () => ({ machine_types: cloud.catalog.machine_types }) };
    case 'GET regions':
      return { name: 'regions', make: () => ({ regions: cloud.catalog.regions, zones: zonesOf(cloud.catalog) }) };
    case 'GET prices':
      return { name: 'prices', make: () => ({ prices: cloud.prices() }) };
    case 'GET quotas':
      return { name: 'quotas', make: () => ({ quotas: cloud.settings.quotas }) };
    default:
      throw cloudErrors.noSuchPath(at);
  }
}

const askedOf = ({ machine_type: type, zone, market, count: asked, client_token: token }: LaunchBody): LaunchAsked => ({
  type,
  ...(zone !== undefined && { zone }),
  ...(market !== undefined && { market }),
  count: asked ?? 1,
  ...(token !== undefined && { token }),
});
