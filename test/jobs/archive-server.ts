import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PackageStoreOptions } from '../../src/jobs/packages/packages.ts';

/** A server of archives on a port of its own, which does with each request what the test says. */
export interface ArchiveServer {
  /** Begins with https: the client asks for nothing else. */
  readonly url: string;
  /** Asks this server in plain HTTP. */
  readonly request: NonNullable<PackageStoreOptions['request']>;
  readonly asked: string[];
  /** Connections on which a request is being answered. */
  readonly open: () => number;
  close(): Promise<void>;
}

export async function archiveServer(
  answerWith: (answer: ServerResponse, message: IncomingMessage) => unknown,
): Promise<ArchiveServer> {
  const asked: string[] = [];
  let open = 0;
  const server = createServer((message, answer) => {
    asked.push(message.url ?? '');
    open += 1;
    answer.on('close', () => (open -= 1));
    answerWith(answer, message);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    request: ((url: string, options: object, heard: (answer: IncomingMessage) => void) =>
      httpRequest(url.replace(/^https:/, 'http:'), { ...options, agent: false }, heard)) as never,
    asked,
    open: () => open,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
