import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { lead } from '../../src/launcher/reach/tunnel.ts';
import { never, until } from '../contract/waiting.ts';

async function listening(t: TestContext, name: string, onSocket: (socket: Socket) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-lead-'));
  const server: Server = createServer({ allowHalfOpen: true }, onSocket).listen(join(folder, name));
  await once(server, 'listening');
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, name);
}

test('nothing stays open of a connection whose client left while the way was looked for', async (t) => {
  const open = new Set<Socket>();
  const seen: Socket[] = [];
  const far = await listening(t, 'far', (socket) => {
    seen.push(socket);
    open.add(socket);
    socket.on('error', () => {});
    socket.resume();
    socket.on('close', () => open.delete(socket));
    socket.on('end', () => socket.end());
  });
  const looked = Promise.withResolvers<void>();
  const led = Promise.withResolvers<void>();
  const near = await listening(t, 'near', (socket) => {
    socket.on('error', () => {});
    socket.on('close', () => looked.resolve());
    const way = async (): Promise<string> => {
      client.destroy();
      socket.destroy();
      await looked.promise;
      return far;
    };
    void lead(socket, { socket: way, lost: () => {} }, never).then(led.resolve, led.reject);
  });
  const client = connect(near);
  client.on('error', () => {});
  await led.promise;
  await until('the far end has closed', () => seen.length === 1 && open.size === 0);
});

test('the way is looked for anew when nobody takes the other end', async (t) => {
  let lost = 0;
  const far = await listening(t, 'far', (socket) => {
    socket.on('error', () => {});
    socket.on('data', (piece) => (String(piece) === 'leave' ? socket.destroy() : socket.end(piece)));
  });
  const near = await listening(t, 'near', (socket) => {
    socket.on('error', () => {});
    void lead(socket, { socket: async () => far, lost: () => void (lost += 1) }, never);
  });
  const talk = async (word: string): Promise<string> => {
    const client = connect(near);
    client.on('error', () => {});
    let heard = '';
    client.on('data', (piece) => (heard += String(piece)));
    client.write(word);
    await once(client, 'close');
    return heard;
  };
  assert.equal(await talk('stay'), 'stay');
  assert.equal(lost, 0);
  assert.equal(await talk('leave'), '');
  await until('it is told', () => lost === 1);
});
