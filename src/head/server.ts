import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { type JobsApiDeps, makeUpgradeHandler, mountJobsApi } from '../jobs/api.ts';
import { errorAnswer } from '../jobs/api-answer.ts';
import { apiErrors } from '../jobs/api-errors.ts';
import { type AuthDeps, type JobsEnv, loopbackHosts, redeemTicket, serverLimits } from '../jobs/auth.ts';
import { mountHeadApi } from './api/routes.ts';
import { headErrors } from './errors.ts';
import type { Head } from './head.ts';
import { isPagePath, readPage } from './page.ts';

/** The Ray whose API is spoken: its clients compare versions. */
const rayVersion = '2.60.0';
const rayCommit = '0000000000000000000000000000000000000000';
const usualPort = 8265;
const portsTried = 100;

export interface Serving {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

const open = new Set(['/healthz', '/readyz', '/metrics']);

/** Serves a head on loopback: health and metrics for all, the page, and behind a token Ray's jobs API and Manta's own. */
export async function serve(head: Head, port: number | undefined, lastPort?: number): Promise<Serving> {
  const auth: AuthDeps = {
    users: head.users,
    clock: head.clock,
    hosts: loopbackHosts,
    cookie: `manta-${head.folder.name}`,
    isPublic: (path) => open.has(path) || isPagePath(path),
  };
  const deps: JobsApiDeps = { ...head, auth, rayVersion, rayCommit, sessionName: `session_manta_${head.folder.name}` };
  const app = new Hono<JobsEnv>();
  app.use('*', async (c, next) => {
    await next();
    // The rest of a body that was refused is on its way still: nothing else can be said on that connection.
    if (c.res.status === 413) c.res.headers.set('connection', 'close');
  });
  mountJobsApi(app, deps);
  mountOpenRoutes(app, head, auth);
  mountHeadApi(app, head);
  app.notFound((c) => {
    const { method, path } = c.req;
    return errorAnswer(c, apiErrors.NotFound({ method, path: path.slice(0, 200) }), 404);
  });
  app.onError((error, c) => {
    head.log(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json({ error: { code: 'MANTA_INTERNAL', message: 'mantad failed to answer; its log says why' } }, 500);
  });

  const answer = getRequestListener(app.fetch);
  const server = createServer(
    {
      maxHeaderSize: serverLimits.maxHeaderSize,
      headersTimeout: serverLimits.headersTimeout,
      keepAliveTimeout: 65_000,
      noDelay: true,
    },
    (request, response) => void answer(request, response),
  );
  const upgrade = makeUpgradeHandler(deps);
  server.on('upgrade', (request, socket, rest) => {
    if (!upgrade(request, socket, rest)) socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  });
  const bound = await listen(server, port, lastPort);
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function mountOpenRoutes(app: Hono<JobsEnv>, head: Head, auth: AuthDeps): void {
  app.get('/healthz', (c) => c.text('success'));
  app.get('/readyz', (c) => (head.ready() ? c.text('ready') : c.text('not every side has answered yet', 503)));
  app.get('/metrics', (c) => {
    const { view, spec, counts } = head.sight();
    const gauges = { instances: view?.instances ?? [], spec, jobs: counts, residentBytes: process.memoryUsage.rss() };
    return c.body(head.metrics.text(gauges), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  app.get('*', async (c, next) => {
    if (!isPagePath(c.req.path)) return await next();
    const ticket = c.req.query('ticket');
    // The ticket leaves the address bar whether it was good or not.
    if (ticket !== undefined) {
      const good = await redeemTicket(c, auth, ticket);
      return c.redirect(good ? '/' : '/#/?link=spent', 303);
    }
    const file = readPage(c.req.path);
    return file ? c.body(new Uint8Array(file.body), 200, { ...file.headers }) : c.text('not found', 404);
  });
}

/** The port asked for, or the last one, or the usual one, or the next that is free. */
async function listen(server: Server, port: number | undefined, lastPort: number | undefined): Promise<number> {
  const usual = Array.from({ length: portsTried }, (_, index) => usualPort + index);
  for (const next of port !== undefined ? [port] : [...(lastPort === undefined ? [] : [lastPort]), ...usual]) {
    const taken = await new Promise<boolean>((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void =>
        error.code === 'EADDRINUSE' ? resolve(true) : reject(error);
      server.once('error', failed);
      server.listen(next, '127.0.0.1', () => {
        server.removeListener('error', failed);
        resolve(false);
      });
    });
    if (!taken) return (server.address() as AddressInfo).port;
    if (port !== undefined) throw headErrors.PortTaken({ port });
  }
  throw headErrors.PortTaken({ port: usualPort });
}
