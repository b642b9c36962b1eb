/** Runs in the network of a lab's switch: opens the listening sockets of its arguments and hands them to its parent. */
import { createServer, type Server } from 'node:net';
import type { ListenAt } from './listen.ts';

for (const { address, port } of JSON.parse(process.argv[2] ?? '[]') as readonly ListenAt[]) {
  const server: Server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  await new Promise<void>((resolve, reject) => {
    process.send!({ address, port }, server, {}, (error) => (error === null ? resolve() : reject(error)));
  });
  // Two processes that listen on one socket would share its connections.
  server.close();
}
