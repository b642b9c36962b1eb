import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { certificates } from './certificates.ts';

/**
 * Makes a server a proxy too: who asks it to connect to one of Google's names talks to the server itself, behind a
 * certificate of that name. What it returns ends that. Other names lead nowhere.
 */
export function proxyGoogle(server: Server): () => void {
  const open = new Set<Duplex>();
  server.on('connect', (request, socket: Duplex, head: Buffer) => {
    const name = (request.url ?? '').replace(/:\d+$/, '');
    socket.on('error', () => {});
    if (!/(?:^|\.)(?:googleapis\.com|google\.com|pkg\.dev|gcr\.io)$/.test(name)) {
      socket.end(`HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const { key, certificate } = certificates();
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const inner = new TLSSocket(socket, {
      isServer: true,
      key,
      cert: certificate,
      ALPNProtocols: ['http/1.1'],
    });
    inner.on('error', () => inner.destroy());
    server.emit('connection', inner);
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}
