import type { Server } from 'node:http';
import { Hono } from 'hono';
import { apiErrors } from '../../api/errors.ts';
import { clusterHost } from '../../client/cluster-host.ts';
import { rayCommit, rayVersion } from '../../core/ray-version.ts';
import { type JobsApiDeps, mountJobsApi } from '../../jobs/api.ts';
import { errorAnswer } from '../../jobs/api-answer.ts';
import { type AuthDeps, type JobsEnv, loopbackHosts, redeemTicket } from '../../jobs/users/auth.ts';
import { SignIns } from '../../jobs/users/sign-ins.ts';
import { mountHeadApi } from '../api/routes.ts';
import { Front } from '../gateway/front.ts';
import { Gateway } from '../gateway/gateway.ts';
import type { RayFront } from '../gateway/ray-front.ts';
import type { Head } from '../head.ts';
import { listenOnLoopback, listenOnSocket } from './listen.ts';
import { isPagePath, readPage } from './page.ts';

export interface ServeOrder {
  /** The port that the user asked for; one of Manta's choice otherwise. */
  readonly port?: number;
  /** The port of the daemon before. */
  readonly lastPort?: number;
  /** The port whose sockets the supervisor has handed over, and whether the one at ::1 is among them. */
  readonly heldPort?: number;
  readonly heldSix?: boolean;
  /** Whether it has handed over the socket of the folder. */
  readonly heldNear?: boolean;
  /** Where others than this machine come in too, by which names. Everybody there needs a token, as on loopback. */
  readonly also?: { readonly address: string; readonly hosts: readonly string[] };
  /** Called before a request that may change something is answered. */
  readonly beforeChange?: () => void;
}

export interface ListeningServer {
  readonly port: number;
  /** The port that was wanted and that another has, at 127.0.0.1 or ::1. */
  readonly taken?: number;
  readonly url: string;
  /** For this user alone; absent where its path would be too long. */
  readonly socket?: string;
  close(): Promise<void>;
}

const open = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Serves a head on loopback and on a socket of its folder: health and metrics for all, the page, behind a token Ray's jobs
 * API and Manta's own, and where there is a Ray its dashboard behind all of that.
 */
export async function serve(head: Head, order: ServeOrder): Promise<ListeningServer> {
  const { port, lastPort, heldPort, heldSix = false, heldNear = false } = order;
  const { queue, store, logs, packages, users, clock } = head;
  const auth: AuthDeps = {
    users,
    clock,
    signIns: new SignIns(clock, head.events),
    hosts: new Set([...loopbackHosts, clusterHost(head.folder.name), ...(order.also?.hosts ?? [])]),
    cookie: `manta-${head.folder.name}`,
    isPublic: (path) => open.has(path) || isPagePath(path),
  };
  const deps: JobsApiDeps = {
    queue,
    store,
    logs,
    packages,
    users,
    clock,
    auth,
    get ray() {
      return head.ray?.version ?? { version: rayVersion, commit: rayCommit };
    },
    ...(head.ray && atRay(head.ray)),
    sessionName: `session_manta_${head.folder.name}`,
  };
  const gateway = head.ray && new Gateway({ auth, ray: head.ray });
  const front = new Front(appOf(head, deps, order.beforeChange), deps, gateway);
  const pair = { four: front.server(), six: front.server() };
  const { port: bound, taken } = await listenOnLoopback(pair, { port, lastPort, heldPort, heldSix });
  head.ray?.servesMetricsAt(`127.0.0.1:${bound}`);
  const also = order.also && front.server();
  if (also && order.also) await listening(also, bound, order.also.address);
  const near = front.server({ trusted: true });
  const { mantadSocket } = head.folder.files;
  const hasSocket = await listenOnSocket(near, mantadSocket, heldNear);
  return {
    port: bound,
    ...(taken !== undefined && { taken }),
    url: `http://127.0.0.1:${bound}`,
    ...(hasSocket && { socket: mantadSocket }),
    close: async () => {
      await ended([pair.four, pair.six, near, ...(also ? [also] : [])], front);
      gateway?.close();
    },
  };
}

const listening = (server: Server, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });

const atRay = (ray: RayFront): Pick<JobsApiDeps, 'others' | 'drivers' | 'driverOf'> => ({
  others: (signal) => ray.jobsOfOthers(signal),
  drivers: (signal) => ray.drivers(signal),
  driverOf: (id, signal) => ray.driverOf(id, signal),
});

function appOf(head: Head, deps: JobsApiDeps, beforeChange?: () => void): Hono<JobsEnv> {
  const app = new Hono<JobsEnv>();
  app.use('*', async (c, next) => {
    if (c.req.method !== 'GET') beforeChange?.();
    await next();
    // The rest of a body that was refused is on its way still: nothing else can be said on that connection.
    if (c.res.status === 413) c.res.headers.set('connection', 'close');
  });
  mountJobsApi(app, deps);
  mountOpenRoutes(app, head, deps.auth);
  mountHeadApi(app, head);
  app.notFound((c) => {
    const { method, path } = c.req;
    return errorAnswer(c, apiErrors.NotFound({ method, path: path.slice(0, 200) }), 404);
  });
  app.onError((error, c) => {
    head.log(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json(
      { error: { code: 'MANTA_INTERNAL', message: 'mantad failed to handle the request; see its log' } },
      500,
    );
  });
  return app;
}

/** Who has asked for a change hears what came of it; who reads or waits comes again. */
async function ended(servers: readonly Server[], front: Front): Promise<void> {
  const closed = servers.flatMap((server) =>
    server.listening ? [new Promise((resolve) => server.close(resolve))] : [],
  );
  await front.changesAnswered(answersWithin);
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

const answersWithin = 2_000;

function mountOpenRoutes(app: Hono<JobsEnv>, head: Head, auth: AuthDeps): void {
  app.get('/healthz', (c) => c.text('success'));
  app.get('/readyz', (c) =>
    head.ready() ? c.text('ready') : c.text('the provider or the engine has not responded yet', 503),
  );
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
      if (typeof good !== 'boolean') return good;
      // To where the page stands, whatever is in front of it.
      return c.redirect(good ? './' : './#/?link=spent', 303);
    }
    const file = readPage(c.req.path);
    return file ? c.body(new Uint8Array(file.body), 200, { ...file.headers }) : c.text('not found', 404);
  });
}
