// needs: cluster

/** What clients can hold of the server, and that they hold it from nobody else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Hono } from 'hono';
import { usualClientLimits } from '../../../src/head/gateway/clients.ts';
import { Front } from '../../../src/head/gateway/front.ts';
import type { JobsApiDeps } from '../../../src/jobs/api.ts';
import type { JobsEnv } from '../../../src/jobs/users/auth.ts';
import { eventually } from '../test-cluster.ts';
import { GatewayBed } from './bed.ts';

/** Catches a hang. */
const deadline = { timeout: 120_000 };

/** A connection that asks and does not read. */
function deaf(t: TestContext, port: number, text: string): Socket {
  const line = connect(port, '127.0.0.1', () => line.write(text));
  line.pause();
  line.on('error', () => {});
  t.after(() => line.destroy());
  return line;
}

const asking = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`;

describe('in front of Ray', deadline, () => {
  it('256 clients without a token that do not read hold up nobody who has one', async (t) => {
    const bed = await GatewayBed.open(t);
    const page = Buffer.alloc(1 << 18, 'x');
    bed.ray.answer = (asked, response) => {
      if (!asked.url?.startsWith('/static/')) return void response.end('answered');
      response.write(page);
      // Some megabytes are in the system's buffers before one of them stalls: enough that a few do.
      if (bed.ray.reached.length % 32 !== 0) return;
      const more = (): void => {
        while (!response.destroyed && response.write(page));
      };
      response.on('drain', more);
      more();
    };
    for (let count = 0; count < 256; count++) deaf(t, bed.port, asking('/static/js/main.js'));
    await eventually('all of them have reached Ray', () => bed.ray.reached.length >= 256);
    assert.equal((await bed.ask('/nodes', { as: bed.guest })).text, 'answered');
    assert.equal((await bed.ask('/api/manta/v1/jobs')).status, 200);
    // The page that is open to all, for somebody who has signed in: not among those who have not.
    bed.ray.answer = (_, response) => response.end('the page');
    assert.equal((await bed.ask('/')).text, 'the page');
    assert.equal((await bed.ask('/', { as: null })).text, 'the page');
    assert.equal((await bed.ask('/healthz', { as: null })).status, 200);
  });

  it('one user who does not read holds up no other', async (t) => {
    const bed = await GatewayBed.open(t);
    const reads = `authorization: Bearer ${bed.guest}\r\n`;
    bed.ray.answer = (asked, response) => {
      if (asked.url === '/cluster_id') response.end('answered');
      else response.write('begins');
    };
    for (let count = 0; count < 300; count++) deaf(t, bed.port, asking('/nodes', reads));
    await eventually('as many as may have reached Ray', () => bed.ray.reached.length >= 128);
    assert.equal((await bed.ask('/cluster_id')).text, 'answered');
    assert.ok(bed.ray.reached.length < 256, `${bed.ray.reached.length} of one user reached Ray`);
  });

  it('of large answers that a user does not read few are held, and those of others are given', async (t) => {
    const bed = await GatewayBed.open(t);
    const rows = JSON.stringify({ data: { result: ['x'.repeat(14 << 20)] } });
    let taken = 0;
    bed.ray.answer = (asked, response) => {
      if (asked.url !== '/api/v0/tasks') return void response.end('{}');
      response.on('finish', () => (taken += 1));
      response.end(rows);
    };
    const reads = `authorization: Bearer ${bed.guest}\r\n`;
    for (let count = 0; count < 30; count++) deaf(t, bed.port, asking('/api/v0/tasks', reads));
    await eventually('all of them have reached Ray', () => bed.ray.reached.length === 30);
    const { token: other } = await bed.bed.users.add('other');
    assert.equal((await bed.ask('/api/v0/actors', { as: other })).text, '{}');
    await eventually('the first are taken from Ray', () => taken >= 2);
    for (let turn = 0; turn < 20; turn++) assert.equal((await bed.ask('/api/v0/actors', { as: other })).text, '{}');
    assert.equal(taken, 2, 'the rest stays with Ray until they are read');
  });

  it('a few hundred connections that say nothing give way to a new one', async (t) => {
    const bed = await GatewayBed.open(t);
    let closed = 0;
    const silent = Array.from({ length: usualClientLimits.strangers + 40 }, () => deaf(t, bed.port, ''));
    for (const each of silent) {
      each.resume();
      each.on('close', () => (closed += 1));
    }
    await eventually('the oldest have given way', () => closed >= 40);
    assert.equal((await bed.ask('/nodes')).status, 200);
    assert.ok(closed < 60, `${closed} were closed`);
  });
});

describe('the server', deadline, () => {
  const users = new Map(['ada', 'bob'].map((name) => [`token-${name}`, { name }]));
  const deps = { auth: { cookie: 'manta-test', users: { byToken: (token: string) => users.get(token) } } };
  const piece = Buffer.alloc(1 << 18, 'x');
  const whole = 40 << 20;

  async function serverOf(t: TestContext, limits: Partial<typeof usualClientLimits>, trusted = false): Promise<number> {
    const app = new Hono<JobsEnv>();
    app.get('/endless', (c) => c.body(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(piece)) })));
    app.get('/whole', (c) => c.body(new Uint8Array(whole)));
    app.get('/quiet', (c) => c.body(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)) })));
    const waiting = { headersTimeout: 60_000, bodySilence: 60_000, ...limits };
    const server = new Front(app, deps as unknown as JobsApiDeps, undefined, waiting)
      .server({ trusted })
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  }

  it('cuts off whoever does not read what they asked for', async (t) => {
    const port = await serverOf(t, { strangerReads: 400, userReads: 400 });
    const lines = ['', 'authorization: Bearer token-ada\r\n'].map((more) => deaf(t, port, asking('/endless', more)));
    await eventually('both are cut', () => {
      // A client that does not read does not hear of it either, until it writes.
      for (const line of lines) if (!line.destroyed) line.write('\r\n');
      return lines.every((line) => line.destroyed);
    });
  });

  it('waits longer for a user, whose terminal may stand still', async (t) => {
    const port = await serverOf(t, { strangerReads: 200, userReads: 600_000 });
    const user = deaf(t, port, asking('/endless', 'authorization: Bearer token-ada\r\n'));
    // Of two that ask one after the other: when the later is gone, the earlier was passed over.
    const stranger = deaf(t, port, asking('/endless'));
    await eventually('the stranger is cut', () => {
      if (!stranger.destroyed) stranger.write('\r\n');
      return stranger.destroyed;
    });
    assert.ok(!user.destroyed);
    user.resume();
    await once(user, 'data');
  });

  it('lets a slow reader read to the end, and leaves a quiet stream alone', async (t) => {
    // The system tells the server in steps of megabytes what was read.
    const port = await serverOf(t, { strangerReads: 3_000, userReads: 3_000 });
    const quiet = deaf(t, port, asking('/quiet'));
    quiet.resume();
    const slow = deaf(t, port, asking('/whole', 'connection: close\r\n'));
    let read = 0;
    const reading = setInterval(() => {
      read += (slow.read() as Buffer | null)?.length ?? 0;
    }, 10);
    t.after(() => clearInterval(reading));
    await eventually('all of it is read, or it is cut', () => read > whole || slow.destroyed);
    assert.ok(read > whole, `it was cut after ${read} bytes`);
    assert.ok(!quiet.destroyed);
  });

  it('gives one user so many connections, and the next user theirs', async (t) => {
    const port = await serverOf(t, { perUser: 3 });
    const bearer = (name: string): string => `authorization: Bearer token-${name}\r\n`;
    const held = Array.from({ length: 3 }, () => deaf(t, port, asking('/quiet', bearer('ada'))));
    for (const line of held) {
      line.resume();
      await once(line, 'data');
    }
    const ask = (name: string): Promise<{ status: number | undefined; later: string | undefined }> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer token-${name}` };
        request({ port, host: '127.0.0.1', path: '/quiet', headers, agent: new Agent() }, (answer) => {
          resolve({ status: answer.statusCode, later: answer.headers['retry-after'] });
          answer.destroy();
        })
          .on('error', reject)
          .end();
      });
    assert.deepEqual(await ask('ada'), { status: 429, later: '1' });
    assert.deepEqual(await ask('bob'), { status: 200, later: undefined });
    held[0]?.destroy();
    await eventually('there is room again', async () => (await ask('ada')).status === 200);
  });

  it('leaves most connections to others, whatever one user holds', () => {
    const { connections, strangers, perUser } = usualClientLimits;
    assert.ok(perUser * 15 + strangers <= connections, `${perUser} of ${connections}`);
  });

  it('counts no connections of the one who owns the state folder', async (t) => {
    const port = await serverOf(t, { perUser: 1 }, true);
    for (let count = 0; count < 3; count++) {
      const line = deaf(t, port, asking('/quiet', 'authorization: Bearer token-ada\r\n'));
      line.resume();
      const [bytes] = (await once(line, 'data')) as [Buffer];
      assert.match(bytes.toString(), /^HTTP\/1\.1 200/);
    }
  });

  it('takes no thousand requests on one connection before it has answered the first', async (t) => {
    const port = await serverOf(t, { perConnection: 4 });
    const line = deaf(t, port, asking('/quiet').repeat(100));
    line.resume();
    const answers: string[] = [];
    line.on('data', (bytes) => answers.push(bytes.toString()));
    await once(line, 'data');
    assert.ok(!line.destroyed);
    assert.equal(answers.join('').match(/HTTP\/1\.1 200/g)?.length, 1);
  });
});
