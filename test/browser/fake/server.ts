import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { StreamKind, SubmitBody } from '../../../src/api/types.ts';
import type { JobState } from '../../../src/core/jobs/job.ts';
import type { FakeCluster } from './cluster.ts';

const contentSecurity = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface FakeServer {
  readonly url: string;
  readonly token: string;
  /** A link that signs in once. */
  ticket(): string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Serves the built page of `pageFolder` and the API over `cluster`, under `prefix`. */
export async function serveFake(cluster: FakeCluster, pageFolder: string, port = 0, prefix = '/'): Promise<FakeServer> {
  const token = randomBytes(16).toString('hex');
  const tickets = new Set<string>();
  let server: Server | undefined;
  let bound = port;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://fake');
    if (!url.pathname.startsWith(prefix)) return fail(response, 404, 'NOT_FOUND', 'no such path');
    const path = url.pathname.slice(prefix.length);
    response.setHeader('content-security-policy', contentSecurity);
    response.setHeader('x-content-type-options', 'nosniff');
    if (path === 'api/authenticate' && request.method === 'POST') {
      if (!matches(request.headers.authorization ?? '', `Bearer ${token}`)) {
        return fail(response, 403, 'HTTP_403', 'Forbidden: Invalid authentication token');
      }
      response.setHeader('set-cookie', cookie(token));
      return json(response, 200, { status: 'success' });
    }
    if (path.startsWith('api/manta/v1/')) {
      const sent = /(?:^|;\s*)fake-session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
      if (!matches(sent, token) && !matches(request.headers.authorization ?? '', `Bearer ${token}`)) {
        return fail(response, 401, 'MANTA_API_UNAUTHENTICATED', 'the request has no token');
      }
      return api(cluster, path.slice('api/manta/v1/'.length), url, request, response);
    }
    const ticket = url.searchParams.get('ticket');
    if (path === '' && ticket !== null) {
      if (tickets.delete(ticket)) response.writeHead(303, { location: prefix, 'set-cookie': cookie(token) }).end();
      else response.writeHead(303, { location: `${prefix}#/?link=spent` }).end();
      return;
    }
    await page(pageFolder, path === '' ? 'index.html' : path, response);
  };

  const start = async (): Promise<void> => {
    const made = createServer((request, response) => {
      handle(request, response).catch((problem: unknown) => fail(response, 500, 'FAKE_BROKEN', String(problem)));
    });
    await new Promise<void>((resolve, reject) => made.once('error', reject).listen(bound, '127.0.0.1', resolve));
    bound = (made.address() as AddressInfo).port;
    server = made;
  };
  const stop = async (): Promise<void> => {
    const old = server;
    server = undefined;
    if (old === undefined) return;
    const closed = new Promise((resolve) => old.close(resolve));
    old.closeAllConnections();
    await closed;
  };
  await start();
  return {
    url: `http://127.0.0.1:${bound}${prefix}`,
    token,
    start,
    stop,
    ticket: () => {
      const made = randomBytes(8).toString('hex');
      tickets.add(made);
      return `http://127.0.0.1:${bound}${prefix}?ticket=${made}`;
    },
  };
}

async function api(
  cluster: FakeCluster,
  path: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const query = url.searchParams;
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const [first, rawId, third, fourth] = path.split('/');
  const id = decodeURIComponent(rawId ?? '');
  const post = request.method === 'POST';
  if (path === 'cluster') return json(response, 200, cluster.cluster());
  if (path === 'nodes') return json(response, 200, { nodes: cluster.nodes });
  if (path === 'demand') return json(response, 200, cluster.demand);
  if (path === 'stream') return stream(cluster, request, response);
  if (path === 'history') {
    const since = number('since') ?? 0;
    const samples = cluster.history.samples.filter((sample) => sample.at >= since);
    const every = Math.max(1, Math.ceil(samples.length / (number('points') ?? 600)));
    return json(response, 200, {
      samples: samples.filter((_, index) => (samples.length - 1 - index) % every === 0),
      marks: cluster.history.marks.filter((mark) => mark.at >= since),
    });
  }
  if (path === 'events') {
    const after = number('after');
    const limit = number('limit') ?? 100;
    const events =
      after === undefined
        ? cluster.events.slice(-limit)
        : cluster.events.filter((event) => event.seq > after).slice(0, limit);
    return json(response, 200, { events });
  }
  if (first === 'why') return json(response, 200, cluster.why(id, decodeURIComponent(third ?? '')));
  if (path === 'jobs' && post) {
    const body = JSON.parse(await text(request)) as SubmitBody;
    if ((body.resources?.['GPU'] ?? 0) > 1) {
      return fail(
        response,
        400,
        'MANTA_JOB_INFEASIBLE',
        `no node type has ${body.resources?.['GPU']} GPU`,
        'the nearest is gpu-a10 with 1',
      );
    }
    return json(response, 201, cluster.submit(body));
  }
  if (path === 'jobs') {
    const states = (query.get('state') ?? '').split(',').filter((state) => state !== '') as JobState[];
    const rows = cluster.list(states, query.get('search') ?? '');
    const before = query.get('before');
    const from = before === null ? 0 : rows.findIndex((row) => row.id === before) + 1;
    const jobs = rows.slice(from, from + (number('limit') ?? 100));
    const next = from + jobs.length < rows.length ? jobs.at(-1)?.id : undefined;
    return json(response, 200, { jobs, total: rows.length, ...(next === undefined ? {} : { next }) });
  }
  if (first === 'jobs' && cluster.job(id) !== undefined) {
    if (third === 'stop' && post) return json(response, 200, cluster.stop(id));
    if (third === 'retry' && post) return json(response, 201, cluster.retry(id));
    if (third === 'logs')
      return logs(cluster, id, number('attempt') ?? 1, fourth === 'follow', query, request, response);
    if (request.method === 'DELETE') {
      cluster.remove(id);
      response.writeHead(204).end();
      return;
    }
    return json(response, 200, cluster.job(id));
  }
  fail(response, 404, 'MANTA_API_NOT_FOUND', `there is no ${path}`);
}

function logs(
  cluster: FakeCluster,
  id: string,
  attempt: number,
  follow: boolean,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const log = cluster.log(id, attempt);
  if (log === undefined) return fail(response, 404, 'MANTA_API_NOT_FOUND', 'this attempt has no log');
  let offset = Number(query.get('offset') ?? 0);
  if (!follow) {
    if (query.has('tail')) offset = log.tail(Number(query.get('tail')));
    const bytes = log.read(offset, query.has('limit') ? Number(query.get('limit')) : undefined);
    const next = offset + bytes.length;
    response
      .writeHead(200, {
        'content-type': 'application/octet-stream',
        'manta-offset': offset,
        'manta-next': next,
        'manta-end': String(log.ended && next === log.size),
      })
      .end(bytes);
    return;
  }
  offset = Number(request.headers['last-event-id'] ?? offset);
  const say = openStream(response);
  const pump = (): void => {
    while (offset < log.size) {
      const chunk = log.chunk(offset);
      offset = chunk.next;
      say(undefined, chunk, String(chunk.next));
    }
    if (log.ended) {
      const job = cluster.job(id);
      say('end', { state: job?.state, exitCode: job?.exitCode });
      response.end();
    }
  };
  const unwatch = log.watch(pump);
  response.on('close', unwatch);
  pump();
}

function stream(cluster: FakeCluster, request: IncomingMessage, response: ServerResponse): void {
  const say = openStream(response);
  const last = request.headers['last-event-id'];
  if (last !== undefined) {
    for (const event of cluster.events.filter((each) => each.seq > Number(last)))
      say('event', event, String(event.seq));
  }
  const onChange = (kind: StreamKind, data: unknown): void =>
    say(kind, data, kind === 'event' ? String((data as { seq: number }).seq) : undefined);
  cluster.changes.on('change', onChange);
  response.on('close', () => cluster.changes.off('change', onChange));
}

type Say = (event: string | undefined, data: unknown, id?: string) => void;

function openStream(response: ServerResponse): Say {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': open\n\n');
  const beat = setInterval(() => response.write(': beat\n\n'), 15_000);
  response.on('close', () => clearInterval(beat));
  return (event, data, id) => {
    const head = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}`;
    response.write(`${head}data: ${JSON.stringify(data)}\n\n`);
  };
}

async function page(folder: string, path: string, response: ServerResponse): Promise<void> {
  const type = types[extname(path)];
  const safe = normalize(path);
  if (type === undefined || safe.startsWith('..')) return fail(response, 404, 'NOT_FOUND', 'no such file');
  const content = await readFile(join(folder, safe)).catch(() => undefined);
  if (content === undefined) return fail(response, 404, 'NOT_FOUND', 'no such file');
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(content);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, code: string, message: string, hint?: string): void {
  if (response.headersSent) response.destroy();
  else json(response, status, { error: { code, message, ...(hint === undefined ? {} : { hint }) } });
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function cookie(token: string): string {
  return `fake-session=${token}; HttpOnly; SameSite=Strict; Path=/`;
}

function matches(given: string, wanted: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
