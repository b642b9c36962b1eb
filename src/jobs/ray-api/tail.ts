import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JobsApiDeps } from '../api.ts';
import { followJob } from '../logs/job-log.ts';
import { headOfMessage, judge } from '../users/auth.ts';
import { isOwner } from '../users/permissions.ts';
import type { User } from '../users/users.ts';
import { findJob } from './drivers.ts';
import { words } from './words.ts';

/** Proxies and load balancers cut lines that are quiet for longer. */
const pingEvery = 20_000;
/** As many characters as Ray puts in a frame. */
const frameLength = 20_000;
const tailPath = /^\/api\/jobs\/([^/]+)\/logs\/tail$/;

/** Takes `GET /api/jobs/{id}/logs/tail` when it asks for a WebSocket. False: the request is for somebody else. */
export function makeTailUpgrade(
  deps: JobsApiDeps,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 4_096, clientTracking: false });
  return (request, socket, head) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const match = tailPath.exec(path);
    if (!match) return false;
    const verdict = judge(headOfMessage(request, path), deps.auth);
    if ('status' in verdict) {
      refuse(socket, verdict.status, verdict.text, verdict.retryAfter);
      return true;
    }
    void open(decode(match[1] ?? ''), verdict.user, request, socket, head);
    return true;
  };

  async function open(
    asked: string,
    user: User | undefined,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const job = await findJob(asked, deps);
    if (socket.destroyed) return;
    if (!job) return refuse(socket, 404, words.notFound(asked.slice(0, 200)));
    if (!user || !isOwner(job, user))
      return refuse(
        socket,
        403,
        `Forbidden: only the owner of job '${job.id}' or an administrator may read its output`,
      );
    sockets.handleUpgrade(request, socket, head, (line) => {
      line.once(
        'close',
        deps.users.whileValid(user.name, () => line.close(1008, 'the token was revoked')),
      );
      void tail(deps, job.id, line);
    });
  }
}

async function tail(deps: JobsApiDeps, id: string, line: WebSocket): Promise<void> {
  const gone = new AbortController();
  line.on('close', () => gone.abort());
  line.on('error', () => gone.abort());
  const pings = setInterval(() => line.ping(), deps.pingEvery ?? pingEvery);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  try {
    for await (const piece of followJob(deps, id, gone.signal))
      await say(line, decoder.decode(piece.bytes, { stream: true }));
    await say(line, decoder.decode());
    // Closed with 1000 only here, at the true end: clients take it for the end of the job.
    line.close(gone.signal.aborted ? 1001 : 1000);
  } catch {
    line.close(1011, 'the output could not be read');
  } finally {
    clearInterval(pings);
  }
}

/** Sends in frames of Ray's size and waits until the line has taken them: a slow reader holds nothing in memory. */
async function say(line: WebSocket, text: string): Promise<void> {
  for (let at = 0; at < text.length; at += frameLength) {
    const frame = text.slice(at, at + frameLength);
    await new Promise<void>((resolve) => line.send(frame, () => resolve()));
  }
}

function refuse(socket: Duplex, status: number, text: string, retryAfter?: number): void {
  const names: Record<number, string> = {
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    405: 'Method Not Allowed',
    429: 'Too Many Requests',
  };
  const later = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
  const body = Buffer.from(text);
  socket.end(
    `HTTP/1.1 ${status} ${names[status] ?? 'Error'}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${body.length}\r\n${later}connection: close\r\n\r\n${text}`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
