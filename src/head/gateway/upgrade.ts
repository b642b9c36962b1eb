import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AuthDeps } from '../../jobs/users/auth.ts';
import { type Gateway, type RefusedPassage, refusedFor } from './gateway.ts';
import type { RequestTarget } from './path.ts';

const asked = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions'];
const agreed = ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions'];
const names: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
};

/**
 * A WebSocket of Ray's. The two ends are joined only when Ray has agreed to one: a client that merely says so could
 * otherwise send requests of its own behind the gateway's back.
 */
export function passUpgrade(
  gateway: Gateway,
  users: AuthDeps['users'],
  request: IncomingMessage,
  client: Duplex,
  early: Buffer,
  target: RequestTarget,
): void {
  client.on('error', () => client.destroy());
  const admitted = gateway.admit(request, target);
  if ('status' in admitted) return endWith(client, admitted);
  const { user } = admitted;
  if (request.headers.upgrade?.toLowerCase() !== 'websocket' || request.method !== 'GET' || user === undefined)
    return endWith(client, { status: 400, text: 'only a WebSocket can be opened here', code: '' });

  const more: Record<string, string> = { connection: 'Upgrade', upgrade: 'websocket' };
  for (const name of asked) {
    const value = request.headers[name];
    if (typeof value === 'string') more[name] = value;
  }
  const sent = gateway.ask(request, admitted, user, more);
  client.once('close', () => sent.destroy());
  client.once(
    'close',
    users.whileValid(user.name, () => client.destroy()),
  );
  sent.on('error', (error) => endWith(client, refusedFor(gateway.noAnswer(error), 502)));
  sent.once('response', (answer) => {
    const { statusCode: status = 502 } = answer;
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (piece: string) => (text = (text + piece).slice(0, 4_096)));
    answer.on('end', () => endWith(client, { status: status < 400 ? 502 : status, text, code: '' }));
    answer.on('error', () => client.destroy());
  });
  sent.once('upgrade', (answer, ray, first) => {
    const lines = agreed.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [`${name}: ${value}`] : [];
    });
    client.write(
      ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket', ...lines, '', ''].join('\r\n'),
    );
    client.write(first);
    ray.write(early);
    ray.on('error', () => client.destroy());
    ray.on('close', () => client.destroy());
    client.on('close', () => ray.destroy());
    ray.pipe(client).pipe(ray);
  });
  sent.end();
}

/** Answers on a socket that no response belongs to, and ends it. */
export function endWith(socket: Duplex, { status, text, code, retryAfter }: RefusedPassage): void {
  if (socket.destroyed || socket.writableEnded) return;
  const lines = [
    `HTTP/1.1 ${status} ${names[status] ?? 'Error'}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    ...(code === '' ? [] : [`manta-error: ${code}`]),
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
