import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Stands between a client and a head, and is as bad as a network can be. */
export interface Front {
  readonly address: string;
  /** Connections that were cut so far. */
  readonly cuts: number;
  /** Connections that were opened so far. */
  readonly connections: number;
  /** Requests that came through, as `GET /path`. */
  readonly requests: string[];
  close(): void;
}

export interface FrontOptions {
  readonly port: number;
  /** Answer as a Ray head that has never heard of Manta. */
  readonly hideManta?: boolean;
  /** Cut a line to the client after this many bytes of it; asked anew for each connection. */
  readonly cutAfter?: () => number;
}

export async function openFront({ port, hideManta = false, cutAfter }: FrontOptions): Promise<Front> {
  let cuts = 0;
  let connections = 0;
  const requests: string[] = [];
  const server = createServer((asked, answer) => {
    requests.push(`${asked.method} ${asked.url}`);
    if (hideManta && asked.url?.startsWith('/api/manta/')) {
      answer.writeHead(404, { 'content-type': 'text/plain' }).end('404: Not Found');
      return;
    }
    const { method, url, headers } = asked;
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      answer.flushHeaders();
      got.pipe(answer);
      got.on('error', () => answer.destroy());
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  server.on('upgrade', (asked, socket: Socket, head) => {
    requests.push(`UPGRADE ${asked.url}`);
    const inner = connect(port, '127.0.0.1', () => {
      const lines = Object.entries(asked.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      inner.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      inner.write(head);
      inner.pipe(socket);
      socket.pipe(inner);
    });
    for (const [one, other] of [
      [inner, socket],
      [socket, inner],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.on('connection', (socket) => {
    connections += 1;
    if (cutAfter === undefined) return;
    const limit = cutAfter();
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    let written = 0;
    socket.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, rest[0] as BufferEncoding) : Buffer.from(chunk);
      written += bytes.length;
      if (written <= limit) return write(chunk, ...rest);
      cuts += 1;
      write(bytes.subarray(0, Math.max(0, bytes.length - (written - limit))), () => socket.resetAndDestroy());
      return false;
    };
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections;
    },
    get cuts() {
      return cuts;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
