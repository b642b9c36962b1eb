import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { failureOf, type HttpClient, refusal } from './http.ts';

/** Ray sends no pings of its own, and lines that are quiet for long get cut on the way. */
const pingEvery = 20_000;
const openWithin = 30_000;

/** Text of Ray's log tail from its first byte on; ends when Ray closes it in good order, throws Broken otherwise. */
export async function* tailFrames(
  http: HttpClient,
  id: string,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<string> {
  const { url, socket, headers, tls } = await http.upgradeOptions(signal);
  const line = new WebSocket(`${url.replace(/^http/, 'ws')}/api/jobs/${encodeURIComponent(id)}/logs/tail`, {
    headers,
    ...tls,
    ...(socket !== undefined && { createConnection: () => connect(socket) }),
    perMessageDeflate: false,
    handshakeTimeout: openWithin,
    followRedirects: false,
  });
  const frames: string[] = [];
  let failure: Error | undefined;
  let closed = false;
  let answered = true;
  let wake = Promise.withResolvers<void>();
  const end = (error?: Error): void => {
    failure ??= error;
    closed = true;
    wake.resolve();
  };
  line.on('open', opened);
  line.on('message', (data: Buffer) => {
    frames.push(data.toString('utf8'));
    wake.resolve();
  });
  line.on('pong', () => {
    answered = true;
  });
  line.on('unexpected-response', (_request, response) => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      end(refusal(response.statusCode ?? 0, text, http.shown, headers['authorization'] !== undefined));
    });
  });
  line.on('error', (error) => end(failureOf(error, http.shown, false)));
  line.on('close', (code) => {
    end(code === 1000 ? undefined : failureOf(new Error(`closed with ${code}`), http.shown, true));
  });
  const abort = (): void => line.terminate();
  signal.addEventListener('abort', abort, { once: true });
  const pings = setInterval(() => {
    if (!answered) return line.terminate();
    answered = false;
    if (line.readyState === WebSocket.OPEN) line.ping();
  }, pingEvery);
  try {
    for (;;) {
      if (frames.length === 0 && !closed) await wake.promise;
      wake = Promise.withResolvers<void>();
      yield* frames.splice(0);
      if (closed && frames.length === 0) break;
    }
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
  } finally {
    clearInterval(pings);
    signal.removeEventListener('abort', abort);
    line.terminate();
  }
}
