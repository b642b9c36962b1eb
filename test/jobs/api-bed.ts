import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { WebSocket } from 'ws';
import { silent } from '../../src/base/events.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import { type JobsApiDeps, makeUpgradeHandler, mountJobsApi } from '../../src/jobs/api.ts';
import { type JobsEnv, loopbackHosts } from '../../src/jobs/users/auth.ts';
import { SignIns } from '../../src/jobs/users/sign-ins.ts';
import { type Bed, type BedOptions, makeBed } from './queue-bed.ts';

const wallClock: Clock = {
  now: () => Date.now(),
  sleep: (duration, signal) => sleep(duration, undefined, { ...(signal && { signal }), ref: false }),
};

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: () => never;
}

type Headers = Record<string, string>;

/** The jobs layer behind a real HTTP server on a port of its own. */
export interface ApiBed extends Bed {
  readonly port: number;
  readonly address: string;
  readonly server: Server;
  readonly admin: string;
  /** As `ada` unless another token (or none) is given. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | null; headers?: Headers },
  ): Promise<Answer>;
  /** An answer that goes on. */
  open(path: string, options?: { headers?: Headers }): Promise<IncomingMessage>;
  socket(path: string, options?: { token?: string; headers?: Headers }): WebSocket;
  readonly token: string;
  tokenOf(user: string): Promise<string>;
}

export interface ApiBedOptions extends Omit<BedOptions, 'clock'> {
  readonly clock?: Clock;
  readonly ray?: JobsApiDeps['ray'];
  /** What the engine is asked besides. */
  readonly atEngine?: Pick<JobsApiDeps, 'others' | 'drivers' | 'driverOf'>;
}

export async function makeApiBed(options: ApiBedOptions): Promise<ApiBed> {
  const clock = options.clock ?? wallClock;
  const bed = await makeBed({ ...options, clock });
  const { token: admin } = await bed.users.add('root', { admin: true });
  const { token } = await bed.users.add('ada');
  const app = new Hono<JobsEnv>();
  const deps = {
    ...bed,
    clock,
    ray: options.ray ?? { version: '2.60.0', commit: 'manta' },
    ...options.atEngine,
    sessionName: 'session_test',
    pingEvery: 50,
    auth: {
      users: bed.users,
      clock,
      signIns: new SignIns(clock, silent),
      hosts: loopbackHosts,
      cookie: 'manta-session-test',
      isPublic: (path: string) => path === '/' || path === '/healthz',
    },
  };
  mountJobsApi(app, deps);
  app.get('/', (c) => c.text('page'));
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const upgrade = makeUpgradeHandler(deps);
  server.on('upgrade', (message, socket, head) => {
    if (!upgrade(message, socket, head)) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const send = (method: string, path: string, headers: Headers, body?: unknown): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const payload =
        body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
      const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, resolve);
      sent.on('error', reject);
      sent.end(payload);
    });
  const read = async (answer: IncomingMessage): Promise<Answer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    return { status: answer.statusCode ?? 0, headers: answer.headers, text, json: () => JSON.parse(text) as never };
  };
  const remove = bed.remove.bind(bed);

  return Object.assign(bed, {
    port,
    server,
    admin,
    token,
    address: `http://127.0.0.1:${port}`,
    async call(
      method: string,
      path: string,
      { body, token: given = token, headers = {} }: { body?: unknown; token?: string | null; headers?: Headers } = {},
    ) {
      return read(
        await send(method, path, { ...(given !== null && { authorization: `Bearer ${given}` }), ...headers }, body),
      );
    },
    open: (path: string, { headers = {} }: { headers?: Headers } = {}) =>
      send('GET', path, { authorization: `Bearer ${token}`, ...headers }),
    socket: (path: string, { token: given = token, headers = {} }: { token?: string; headers?: Headers } = {}) =>
      new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${given}`, ...headers } }),
    tokenOf: async (user: string) => (await bed.users.add(user)).token,
    async remove() {
      server.closeAllConnections();
      server.close();
      await remove();
    },
  });
}
