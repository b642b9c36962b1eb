import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { autoscalerEvents } from '../../../src/autoscaler/events.ts';
import type { EventKind } from '../../../src/base/events.ts';
import { Suspects } from '../../../src/head/ray/watch/suspects.ts';
import { until } from '../../contract/waiting.ts';

/** Two nodes whose raylets can be killed. */
async function bed(t: TestContext) {
  const ending = new AbortController();
  const told: string[] = [];
  const raylets = await Promise.all(
    ['a', 'b'].map(async (id) => {
      const lines: { destroy(): void }[] = [];
      const server = createServer((socket) => lines.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const kill = (): void => {
        server.close();
        for (const each of lines) each.destroy();
      };
      return { id, port: (server.address() as AddressInfo).port, lines, kill };
    }),
  );
  t.after(() => {
    ending.abort();
    for (const { kill } of raylets) kill();
  });
  let looks = 0;
  let woken = 0;
  const suspects = new Suspects({
    nodeTable: async () => {
      looks += 1;
      const common = { address: '127.0.0.1', alive: true, agentPort: 0 };
      const workers = raylets.map(({ id, port }) => ({ ...common, id, head: false, rayletPort: port }));
      return [{ ...common, id: 'h', head: true, rayletPort: 1 }, ...workers];
    },
    events: { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(kind.text(data)) },
    wake: () => void (woken += 1),
    ending: ending.signal,
  });
  const node = (id: string) => ({
    id,
    instance: `i-${id}`,
    type: 'cpu',
    total: {},
    available: {},
    idleFor: 0,
    activity: [],
  });
  const pass = (...ids: readonly string[]): void => suspects.pass({ active: ids.map(node), idle: [] });
  pass('h', 'a', 'b');
  await until('both lines stand', () => raylets.every(({ lines }) => lines.length === 1));
  return { suspects, raylets, told, pass, looks: () => looks, woken: () => woken };
}

test('a lost node is told by the name of its instance, and brings about a look at once', async (t) => {
  const { raylets, told, pass, looks, woken } = await bed(t);
  pass('h', 'a', 'b');
  assert.equal(looks(), 1, 'Ray is asked for places only when there are other nodes');
  raylets[0]?.kill();
  await until('it is told', () => told.length > 0);
  assert.match(
    told[0] ?? '',
    /^i-a \(cpu\) may be dead: no raylet is listening at 127\.0\.0\.1:\d+ any more; it is replaced once/,
  );
  assert.equal(woken(), 1);
});

test('a node that is drained may go without a word; one whose drain was refused may not', async (t) => {
  const { suspects, raylets, told, pass } = await bed(t);
  const idle = { kind: 'idle', idleFor: 1, timeout: 1 } as const;
  for (const instance of ['i-a', 'i-b'])
    suspects.hear(autoscalerEvents.ended, { instance, type: 'cpu', how: 'drain', because: idle });
  suspects.hear(autoscalerEvents.drainRefused, { instance: 'i-b', reason: 'work has come' });
  pass('h', 'a', 'b');
  await until('the line to b stands again', () => raylets[1]?.lines.length === 2);
  for (const { kill } of raylets) kill();
  await until('b is told', () => told.length > 0);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^i-b /);
});
