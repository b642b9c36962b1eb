import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { closePair, type LoopbackPair, listenOnPair } from '../../src/base/network/loopback.ts';

function pairOf(t: TestContext): LoopbackPair {
  const pair = {
    four: createServer((socket) => socket.end('ours')),
    six: createServer((socket) => socket.end('ours')),
  };
  t.after(() => closePair(pair));
  return pair;
}

/** Somebody else, at one of the two addresses; undefined where the machine does not have it. */
async function other(t: TestContext, host: string): Promise<number | undefined> {
  const server: Server = createServer((socket) => socket.end('theirs')).listen(0, host);
  t.after(() => server.close());
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  }
}

async function heard(port: number, host: string): Promise<string> {
  let text = '';
  for await (const piece of connect(port, host)) text += String(piece);
  return text;
}

test('a port is held at both addresses that localhost can mean', async (t) => {
  if ((await other(t, '::1')) === undefined) return t.skip('this machine has no ::1');
  const port = (await listenOnPair(pairOf(t), 0)) as number;
  for (const host of ['127.0.0.1', '::1']) assert.equal(await heard(port, host), 'ours');
});

test('a port that another has at either address is no port, and nothing of it is kept', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const port = await other(t, host);
    if (port === undefined) return t.skip(`this machine has no ${host}`);
    const pair = pairOf(t);
    assert.equal(await listenOnPair(pair, port), undefined);
    assert.deepEqual([pair.four.listening, pair.six.listening], [false, false]);
    assert.equal(await heard(port, host), 'theirs');
    const next = (await listenOnPair(pair, 0)) as number;
    assert.equal(await heard(next, '127.0.0.1'), 'ours');
  }
});
