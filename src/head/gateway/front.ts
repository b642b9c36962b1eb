import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { apiErrors } from '../../api/errors.ts';
import type { Duration } from '../../base/time/clock.ts';
import { type JobsApiDeps, makeUpgradeHandler } from '../../jobs/api.ts';
import { othersOf } from '../../jobs/ray-api/details.ts';
import { clientOf, headOfMessage, type JobsEnv, serverLimits } from '../../jobs/users/auth.ts';
import type { User } from '../../jobs/users/users.ts';
import { headErrors } from '../errors.ts';
import { type ClientLimits, Clients, usualClientLimits } from './clients.ts';
import { type Gateway, hasBytes, isRead, type RefusedPassage, refuse, refusedFor } from './gateway.ts';
import { ambiguityOf } from './headers.ts';
import { byAttempt } from './logs.ts';
import { type RequestTarget, readTarget, routeOf } from './path.ts';
import { endWith, passUpgrade } from './upgrade.ts';

/** How long a client has to read the last of what was said to it. */
const lingers = 5_000;

/** How long clients may keep this side waiting, in milliseconds. */
interface Waiting extends Partial<ClientLimits> {
  readonly headersTimeout: number;
  readonly bodySilence: number;
}

/** Reads where each request goes, once and for all, and gives it to the one that answers there. */
export class Front {
  readonly #answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
  readonly #tail: ReturnType<typeof makeUpgradeHandler>;
  readonly #deps: JobsApiDeps;
  readonly #gateway: Gateway | undefined;
  readonly #limits: Waiting & ClientLimits;
  readonly #clients: Clients;
  /** To requests that change something, as far as they are not given yet. */
  readonly #answers = new Set<ServerResponse>();
  #closing = false;

  constructor(app: Hono<JobsEnv>, deps: JobsApiDeps, gateway: Gateway | undefined, limits: Waiting = serverLimits) {
    this.#answer = getRequestListener(app.fetch);
    this.#tail = makeUpgradeHandler(deps);
    this.#deps = deps;
    this.#gateway = gateway;
    this.#limits = { ...usualClientLimits, ...limits };
    this.#clients = new Clients(this.#limits);
  }

  /** `trusted`: only the owner of the state folder can connect to it, who never waits for anybody else. */
  server({ trusted = false }: { readonly trusted?: boolean } = {}): Server {
    const server = createServer(
      {
        maxHeaderSize: serverLimits.maxHeaderSize,
        headersTimeout: this.#limits.headersTimeout,
        requestTimeout: 0,
        connectionsCheckingInterval: this.#limits.headersTimeout / 2,
        keepAliveTimeout: 65_000,
        noDelay: true,
        // A client that vanished without a word is noticed, and what it followed is let go.
        keepAlive: true,
        keepAliveInitialDelay: 60_000,
      },
      (request, response) => this.#request(request, response),
    );
    if (!trusted) server.maxConnections = this.#limits.connections;
    server.on('connection', (socket) => this.#clients.connected(socket, trusted));
    server.on('upgrade', (request, socket, early) => this.#upgrade(request, socket, early));
    return server;
  }

  /**
   * Takes no more changes. Resolves when everyone who has asked for one before has heard what came of it, or when that takes too
   * long.
   */
  async changesAnswered(within: Duration): Promise<void> {
    this.#closing = true;
    const given = [...this.#answers].map((answer) => new Promise((resolve) => answer.once('close', resolve)));
    if (given.length > 0) await Promise.race([Promise.all(given), sleep(within, undefined, { ref: false })]);
  }

  /** Whose request it is, where there is room for one of theirs. */
  #admit(request: IncomingMessage): { readonly user?: User } | RefusedPassage {
    const user = clientOf(headOfMessage(request, ''), this.#deps.auth);
    return this.#clients.admits(request, user?.name)
      ? { ...(user && { user }) }
      : refusedFor(headErrors.GatewayBusy({}), 429);
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    const admitted = this.#admit(request);
    if ('status' in admitted) {
      response.shouldKeepAlive = false;
      return refuse(request, response, admitted);
    }
    response.once('close', this.#clients.waits(request));
    if (!isRead(request)) {
      if (this.#closing) return refuse(request, response, refusedFor(apiErrors.Closing({}), 503));
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
    }
    if (hasBytes(request)) endSilent(request, this.#limits.bodySilence);
    if (hasBytes(request) && isRead(request)) dropBytes(request);
    const target = readWhole(request);
    if (typeof target === 'string')
      return refuse(request, response, refusedFor(headErrors.GatewayBadRequest({ problem: target }), 400));
    const route = routeOf(target, this.#gateway !== undefined);
    switch (route.to) {
      case 'elsewhere':
        response.writeHead(308, { location: route.location, 'content-length': 0 }).end();
        return;
      case 'ray':
        return this.#gateway?.handle(
          request,
          response,
          byAttempt(target, (id) => this.#deps.queue.get(id)),
          admitted.user,
        );
      case 'manta':
        void this.#own(request, response, { ...target, path: route.path }, admitted.user);
    }
  }

  async #own(
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
    client: User | undefined,
  ): Promise<void> {
    if (this.#gateway && (await this.#isOfOthers(request, target)))
      return this.#gateway.handle(request, response, target, client);
    request.url = `${target.path}${target.query}`;
    await this.#answer(request, response);
  }

  /** A job that Ray has and the queue has not is Ray's to report, to those who may talk to Ray. */
  async #isOfOthers(request: IncomingMessage, target: RequestTarget): Promise<boolean> {
    const id = /^\/api\/jobs\/([^/]+)/.exec(target.path)?.[1];
    if (id === undefined || this.#deps.queue.get(decodeURIComponent(id)) || !this.#deps.others) return false;
    const admitted = this.#gateway?.admit(request, target);
    if (admitted === undefined || 'status' in admitted) return false;
    const others = await othersOf(this.#deps);
    return others.some(({ submission_id, job_id }) => [submission_id, job_id].includes(decodeURIComponent(id)));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    // Nobody else hears of it any more: unheard, a client that breaks off would be the end of mantad.
    socket.on('error', () => socket.destroy());
    socket.once('finish', () => letGo(socket));
    const admitted = this.#admit(request);
    if ('status' in admitted) return endWith(socket, admitted);
    const target = readWhole(request);
    if (typeof target === 'string')
      return endWith(socket, refusedFor(headErrors.GatewayBadRequest({ problem: target }), 400));
    void this.#open(request, socket, early, target);
  }

  async #open(request: IncomingMessage, socket: Duplex, early: Buffer, asked: RequestTarget): Promise<void> {
    const route = routeOf(asked, this.#gateway !== undefined);
    const target = { path: route.to === 'manta' ? route.path : asked.path, query: asked.query };
    if (this.#gateway && (route.to === 'ray' || (await this.#isOfOthers(request, target))))
      return passUpgrade(this.#gateway, this.#deps.users, request, socket, early, target);
    request.url = `${target.path}${target.query}`;
    if (!this.#tail(request, socket, early)) endWith(socket, { status: 404, text: 'not found', code: '' });
  }
}

/** A body that has stopped coming is given up, unless it is this side that does not read. */
function endSilent(request: IncomingMessage, silence: number): void {
  const { socket } = request;
  if (socket.destroyed) return;
  let read = socket.bytesRead;
  const looking = setInterval(() => {
    const waitsForUs = request.readableLength >= request.readableHighWaterMark;
    if (socket.bytesRead === read && !waitsForUs && !request.complete) socket.destroy();
    read = socket.bytesRead;
  }, silence);
  const over = (): void => {
    clearInterval(looking);
    socket.off('close', over);
  };
  request.once('end', over);
  socket.once('close', over);
}

/** Some clients send bytes with a GET, which mean nothing, to Ray neither: they are thrown away while there are few. */
function dropBytes(request: IncomingMessage): void {
  let seen = 0;
  request.on('data', (bytes: Buffer) => {
    seen += bytes.length;
    if (seen > serverLimits.bodyBytes) request.socket.destroy();
  });
}

/** Everything is said: a client that does not close holds no socket forever. */
function letGo(socket: Duplex): void {
  const late = setTimeout(() => socket.destroy(), lingers);
  socket.once('close', () => clearTimeout(late));
}

/** Where a request goes; what is wrong with it when that cannot be said. */
function readWhole(request: IncomingMessage): RequestTarget | string {
  return ambiguityOf(request) ?? readTarget(request.url ?? '') ?? 'its path can be read in more than one way';
}
