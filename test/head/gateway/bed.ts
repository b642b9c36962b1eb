/** The real server of a head, with the real jobs layer, in front of a Ray that is not real and tells what reached it. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { silent } from '../../../src/base/events.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { RayJob } from '../../../src/engines/ray/jobs/jobs-api.ts';
import type { RayFront } from '../../../src/head/gateway/ray-front.ts';
import type { Head } from '../../../src/head/head.ts';
import { type ListeningServer, serve } from '../../../src/head/server/server.ts';
import { FakeRunner } from '../../jobs/fake-runner.ts';
import { type Bed, makeBed } from '../../jobs/queue-bed.ts';
import type { Owner } from '../test-cluster.ts';

export const rayToken = 'the-one-token-of-ray';

/** A request as it reached Ray. */
export interface Reached {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  body: string;
  over: boolean;
}

type Answering = (request: IncomingMessage, response: ServerResponse, reached: Reached) => void;

export class FakeRay {
  readonly reached: Reached[] = [];
  readonly upgrades: IncomingMessage[] = [];
  readonly sockets = new WebSocketServer({ noServer: true });
  readonly server = createServer((request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request;
    const reached: Reached = { method, url, headers, rawHeaders, body: '', over: false };
    this.reached.push(reached);
    request.on('data', (bytes: Buffer) => (reached.body += bytes.toString()));
    response.on('close', () => (reached.over = true));
    this.answer(request, response, reached);
  });
  /** How it answers next. */
  answer: Answering = (request, response) => {
    request.on('end', () => response.end(`ray says ${request.url}`));
    request.resume();
  };
  /** How it answers an upgrade next. */
  upgrade: (request: IncomingMessage, socket: Duplex, early: Buffer) => void = (request, socket, early) =>
    this.sockets.handleUpgrade(request, socket, early, (line) => {
      line.on('message', (text) => line.send(`echo ${String(text)}`));
      line.send('hello');
    });

  constructor() {
    this.server.on('upgrade', (request, socket, early) => {
      this.upgrades.push(request);
      this.upgrade(request, socket, early);
    });
  }

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Whose token; `null` for none. @default the owner's */
  readonly as?: string | null;
}

export class GatewayBed {
  readonly bed: Bed;
  readonly runner: FakeRunner;
  readonly ray: FakeRay;
  readonly serving: ListeningServer;
  /** Of the administrator, and of a user who is none. */
  readonly owner: string;
  readonly guest: string;
  /** What Ray has beside the jobs of the queue. */
  readonly others: RayJob[];
  /** How often Ray's place was looked for again. */
  readonly looks: { readonly count: number };

  private constructor(
    bed: Bed,
    runner: FakeRunner,
    ray: FakeRay,
    serving: ListeningServer,
    owner: string,
    guest: string,
    others: RayJob[],
    looks: { readonly count: number },
  ) {
    this.others = others;
    this.looks = looks;
    this.bed = bed;
    this.runner = runner;
    this.ray = ray;
    this.serving = serving;
    this.owner = owner;
    this.guest = guest;
  }

  /** `ray: false`: a cluster without one. */
  static async open(t: Owner, options: { readonly ray?: boolean; readonly name?: string } = {}): Promise<GatewayBed> {
    const runner = new FakeRunner(wallClock);
    const bed = await makeBed({ clock: wallClock, runner, types: [] });
    const ray = new FakeRay();
    const place = { address: `127.0.0.1:${await ray.listen()}` };
    const { token: owner } = await bed.users.add('owner', { admin: true });
    const { token: guest } = await bed.users.add('guest');
    const others: RayJob[] = [];
    const looks = { count: 0 };
    const front: RayFront = {
      get address() {
        return place.address;
      },
      token: rayToken,
      version: { version: '2.60.0', commit: 'c0ffee' },
      lookAgain: async () => void (looks.count += 1),
      jobsOfOthers: async () => others,
      drivers: async () => new Map(),
      driverOf: async () => undefined,
      servesMetricsAt: () => {},
    };
    const folder = {
      name: options.name ?? 'Bed_1',
      path: bed.folder,
      files: { mantadSocket: join(bed.folder, 'mantad.sock') },
    };
    const head = {
      ...bed,
      folder,
      clock: wallClock,
      events: silent,
      log: () => {},
      ...(options.ray !== false && { ray: front }),
    };
    const serving = await serve(head as unknown as Head, { port: 0 });
    const made = new GatewayBed(bed, runner, ray, serving, owner, guest, others, looks);
    t.after(async () => {
      await serving.close();
      ray.close();
      await bed.remove();
    });
    return made;
  }

  get port(): number {
    return this.serving.port;
  }

  async ask(path: string, asking: Asking = {}): Promise<Answer> {
    const answer = await this.send(path, asking);
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(pieces).toString() };
  }

  /** The head of an answer, whose body is still to come. */
  send(path: string, { method = 'GET', headers = {}, body, as = this.owner }: Asking = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const given = { ...(as !== null && { authorization: `Bearer ${as}` }), ...headers };
      const options = { port: this.port, host: '127.0.0.1', method, path, headers: given, agent: false as const };
      request(options, resolve).on('error', reject).end(body);
    });
  }

  /** Bytes on a connection of their own, and all that comes back until it is closed or quiet for a while. */
  raw(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      let said = '';
      const socket = connect(this.port, '127.0.0.1', () => socket.write(bytes));
      socket.setTimeout(3_000, () => socket.destroy());
      socket.on('data', (piece) => (said += piece.toString('latin1')));
      socket.on('error', () => {});
      socket.on('close', () => resolve(said));
    });
  }

  socket(path: string, { as = this.owner, headers = {} }: Asking = {}): WebSocket {
    return new WebSocket(`ws://127.0.0.1:${this.port}${path}`, {
      headers: { ...(as !== null && { authorization: `Bearer ${as}` }), ...headers },
    });
  }
}
