/** Clients that go away in the middle of a word, without a word. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { GatewayBed } from './bed.ts';

const never = new AbortController().signal;
const upgrading = ['host: localhost', 'connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==';

const upgrade = (path: string, ...lines: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, ...upgrading, key, ...lines, '', ''].join('\r\n');
const plain = (first: string, ...lines: readonly string[]): string =>
  [`${first} HTTP/1.1`, 'host: localhost', ...lines, '', ''].join('\r\n');

/** Nothing that is thrown here is caught by anybody: it would be the end of mantad, and is the end of this test. */
test('no client takes mantad down by going away, whatever it had asked for and wherever it came in', async (t) => {
  const bed = await GatewayBed.open(t);
  await bed.bed.queue.submit({ id: 'first', user: 'owner', entrypoint: 'true' });
  const owner = `authorization: Bearer ${bed.owner}`;
  const asked = [
    upgrade('/a%2fb'),
    upgrade('/nodes', 'host: twice'),
    upgrade('/nodes'),
    upgrade('/api/v0/live', `authorization: Bearer ${bed.guest}`),
    upgrade('/api/v0/live', owner),
    upgrade('/api/jobs/first/logs/tail'),
    upgrade('/api/jobs/first/logs/tail', owner),
    upgrade('/api/jobs/other/logs/tail', owner),
    upgrade('/manta/nothing', owner),
    plain('CONNECT 127.0.0.1:8264', owner),
    plain('GET /a%2fb'),
    plain('GET /nodes', owner),
    plain('PUT /api/serve/applications/', owner, 'content-length: 100000'),
    plain('PUT /api/serve/applications/', owner, 'transfer-encoding: chunked', 'expect: 100-continue'),
    plain('PUT /api/packages/gcs/_ray_pkg_0123456789abcdef.zip', owner, 'content-length: 100000'),
    plain('GET /api/manta/v1/events?follow=1', owner),
    'GET / HT',
    '\u0016\u0003\u0001',
  ];
  for (const bytes of asked)
    for (const heard of [true, false]) {
      await Promise.all(Array.from({ length: 10 }, () => goesAway(comeIn(bed.port), bytes, heard)));
      await Promise.all(Array.from({ length: 3 }, () => goesAway(comeIn(bed.serving.socket as string), bytes, heard)));
    }
  assert.equal((await bed.ask('/healthz')).status, 200);
});

test('Ray that goes away in the middle of a WebSocket or of an answer takes nobody with it', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.upgrade = (_, socket) => {
    socket.on('error', () => {});
    (socket as Socket).resetAndDestroy();
  };
  const agreed = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nhello';
  const lines = [
    agreed,
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhel',
    'HTTP/1.1 000 None\r\n\r\n',
    'HTTP/1.1 099 None\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  ];
  for (const line of ['', ...lines]) {
    const answer = (socket: Socket): void => {
      socket.on('error', () => {});
      if (line === '') socket.resetAndDestroy();
      else socket.write(line, () => setImmediate(() => socket.resetAndDestroy()));
    };
    bed.ray.upgrade = (_, socket) => answer(socket as Socket);
    bed.ray.answer = ({ socket }) => answer(socket);
    for (const bytes of [
      upgrade('/api/v0/live', `authorization: Bearer ${bed.owner}`),
      plain('GET /nodes', `authorization: Bearer ${bed.owner}`),
      plain('GET /api/v0/live', `authorization: Bearer ${bed.owner}`),
    ])
      await Promise.all(Array.from({ length: 5 }, () => goesAway(comeIn(bed.port), bytes, true)));
  }
  assert.equal((await bed.ask('/healthz')).status, 200);
});

test('a client that was refused and stays is let go', async (t) => {
  const bed = await GatewayBed.open(t);
  const socket = connect({ port: bed.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.resume().write(upgrade('/a%2fb'));
  const gone = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'end');
  // What is sent to a socket that is still open is taken; to one that is gone it is answered with a reset.
  const talk = setInterval(() => socket.write('more'), 100);
  t.after(() => clearInterval(talk));
  await gone;
});

/** A socket that answers an end with one of its own cannot be reset any more, and Node then waits for it for ever. */
const comeIn = (at: number | string): Socket =>
  connect(typeof at === 'number' ? { port: at, host: '127.0.0.1', allowHalfOpen: true } : { path: at });

/** Sends, waits for the first of the answer where `heard`, and resets the connection with that answer unread. */
async function goesAway(socket: Socket, bytes: string, heard: boolean): Promise<void> {
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const answered = new Promise((resolve) => socket.once('readable', resolve));
  await new Promise((resolve) => socket.write(bytes, 'latin1', resolve));
  // Some requests are answered by nobody until the client has said more.
  if (heard) await Promise.race([answered, closed, wallClock.sleep(100, never)]);
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
