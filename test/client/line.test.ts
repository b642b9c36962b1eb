import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { lineTo } from '../../src/client/line.ts';
import { never } from '../contract/waiting.ts';

const listening = (server: Server, at: string | number): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => resolve();
    if (typeof at === 'string') server.listen(at, done);
    else server.listen(at, '127.0.0.1', done);
  });

/** mantad on a socket and on a port, and an SSH server that takes connections for both and may join none to sockets. */
async function far(t: TestContext, letsSocketsThrough: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'manta-line-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const asked: string[] = [];
  const mantad = (): Server =>
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('success');
    });
  const [bySocket, byPort] = [mantad(), mantad()];
  const socket = join(folder, 'mantad.sock');
  await listening(bySocket, socket);
  await listening(byPort, 0);
  const open: Server[] = [bySocket, byPort];
  t.after(() => open.forEach((server) => server.close()));
  const host = {
    forward: async (end: { port: number } | { socket: string }) => {
      const here = join(folder, 'port' in end ? 'port' : 'socket');
      const server = createSocketServer((near) => {
        near.on('error', () => {});
        if ('socket' in end && !letsSocketsThrough) return near.destroy();
        const line = connect('port' in end ? { port: end.port, host: '127.0.0.1' } : { path: end.socket });
        near.pipe(line).pipe(near);
      });
      open.push(server);
      await listening(server, here);
      return here;
    },
  } as unknown as Pick<Host, 'forward'>;
  const { port } = byPort.address() as AddressInfo;
  return { host, serving: { socket, url: `http://127.0.0.1:${port}` }, folder, asked };
}

it('a line leads to the socket of mantad', async (t) => {
  const { host, serving, folder } = await far(t, true);
  assert.equal(await lineTo(host, serving, never), join(folder, 'socket'));
});

it('a line leads to the port where sockets are not let through, before anything is asked that may be asked once', async (t) => {
  const { host, serving, folder, asked } = await far(t, false);
  assert.equal(await lineTo(host, serving, never), join(folder, 'port'));
  assert.deepEqual([...new Set(asked)], ['GET /healthz']);
});

it('a line to a mantad without a socket leads to its port', async (t) => {
  const { host, serving, folder } = await far(t, true);
  assert.equal(await lineTo(host, { url: serving.url }, never), join(folder, 'port'));
});
