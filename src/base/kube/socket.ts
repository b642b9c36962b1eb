import type { RequestOptions } from 'node:https';
import { WebSocket } from 'ws';
import { readWhole } from '../read-whole.ts';

/** An answer that is not the WebSocket that was asked for. */
interface Refused {
  readonly status: number;
  readonly body: string;
}

const openWithin = 30_000;
const largestRefusal = 1 << 20;

/** A peer that has said nothing for two of these is gone. */
const pingEvery = 20_000;

/** Opens a WebSocket with what a login gives to requests, paused. Throws what the connection throws. */
export function openSocket(
  url: string,
  protocols: readonly string[],
  { agent, headers, ...login }: RequestOptions,
  signal: AbortSignal,
): Promise<WebSocket | Refused> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket | Refused>();
  const socket = new WebSocket(url, [...protocols], {
    ...login,
    ...(agent !== undefined && agent !== false && { agent }),
    headers: headers as Record<string, string>,
    perMessageDeflate: false,
    handshakeTimeout: openWithin,
    followRedirects: false,
  });
  const abort = (): void => {
    socket.terminate();
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', abort, { once: true });
  socket.once('open', () => {
    keepAlive(socket);
    // What comes with the answer is not lost before somebody listens.
    socket.pause();
    resolve(socket);
  });
  socket.once('unexpected-response', (_, response) => {
    readWhole(response, largestRefusal).then(
      (body) => resolve({ status: response.statusCode ?? 0, body: body.toString('utf8') }),
      reject,
    );
  });
  // It stays: an error that nobody hears ends the process. What follows it is `close`.
  socket.on('error', reject);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

/**
 * Ends a connection whose other end is gone, which TCP alone notices after a quarter of an hour. While it still has bytes to
 * send, the other end may just be slow: it does not read our pings either.
 */
function keepAlive(socket: WebSocket): void {
  let heard = true;
  const hear = (): void => {
    heard = true;
  };
  socket.on('pong', hear).on('message', hear);
  const pings = setInterval(() => {
    if (!heard && socket.bufferedAmount === 0 && !socket.isPaused) return socket.terminate();
    heard = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, pingEvery).unref();
  socket.once('close', () => clearInterval(pings));
}
