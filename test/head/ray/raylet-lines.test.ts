import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { RayletLines } from '../../../src/head/ray/watch/raylet-lines.ts';
import { until } from '../../contract/waiting.ts';

/** Something that listens, as a raylet does, and can be killed and started again at its port. */
async function raylet(t: TestContext) {
  const calls: Socket[] = [];
  let server: Server | undefined;
  const start = async (port = 0): Promise<number> => {
    server = createServer((socket) => calls.push(socket.on('error', () => {}))).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const kill = async (): Promise<void> => {
    const closed = server && once(server, 'close');
    server?.close();
    for (const socket of calls.splice(0)) socket.destroy();
    await closed;
    server = undefined;
  };
  t.after(kill);
  return { port: await start(), calls, start, kill };
}

function lines(t: TestContext) {
  const told: string[] = [];
  const made = new RayletLines({
    suspect: (node, why) => told.push(`${node}: ${why}`),
    back: (node) => told.push(`${node} is back`),
  });
  t.after(() => made.close());
  return { lines: made, told };
}

test('a raylet that died is suspect, with the reason, and not when it is back', async (t) => {
  const { port, calls, start, kill } = await raylet(t);
  const { lines: held, told } = lines(t);
  const place = { node: 'a', address: '127.0.0.1', port };
  held.follow([place]);
  await until('the line stands', () => calls.length === 1);
  await kill();
  await until('it is suspect', () => told.length > 0);
  await start(port);
  await until('it is back', () => told.length > 1);
  assert.deepEqual(told, [`a: no raylet is listening at 127.0.0.1:${port} any more`, 'a is back']);
});

test('a raylet that hangs up and takes the next call is not suspect', async (t) => {
  const { port, calls } = await raylet(t);
  const { lines: held, told } = lines(t);
  held.follow([{ node: 'a', address: '127.0.0.1', port }]);
  for (let call = 1; call <= 3; call++) {
    await until('it is called again', () => calls.length === call);
    calls.at(-1)?.destroy();
  }
  assert.deepEqual(told, []);
});

test('a node that is meant to go is not suspect when it has gone', async (t) => {
  const [one, other] = [await raylet(t), await raylet(t)];
  const { lines: held, told } = lines(t);
  const places = [one, other].map(({ port }, at) => ({ node: `n${at}`, address: '127.0.0.1', port }));
  held.follow(places);
  await until('both lines stand', () => one.calls.length + other.calls.length === 2);
  held.leave('n0');
  await one.kill();
  await other.kill();
  await until('the other is suspect', () => told.length > 0);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^n1: /);
});
