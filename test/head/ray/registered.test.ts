import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventKind } from '../../../src/base/events.ts';
import { bringupErrors } from '../../../src/bringup/errors.ts';
import { registered } from '../../../src/head/ray/watch/registered.ts';

const instance = {
  id: 'm-1',
  launchToken: 't',
  type: 'cpu',
  kind: 'worker',
  state: 'running',
  launchedAt: 0,
  tags: {},
  address: { inside: '10.0.0.9' },
} as const;
const node = { id: 'ab', address: '10.0.0.9', instance: 'm-1', alive: false, head: false, agentPort: 0, rayletPort: 1 };
const signal = new AbortController().signal;

/** Time passes only by sleeping. */
function bed() {
  let now = 0;
  const told: string[] = [];
  const clock = { now: () => now, sleep: async (duration: number) => void (now += duration) };
  const events = { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(kind.text(data)) };
  return { clock, events, told };
}

test('a worker whose node never appears is suspect, and then not waited for any longer', async () => {
  const { clock, events, told } = bed();
  const dead = { ...node, death: { preempted: false, message: 'its store did not start' } };
  await assert.rejects(registered(instance, { nodeTable: async () => [dead], clock, events }, signal), {
    code: bringupErrors.NeverRegistered.code,
    message: /10\.0\.0\.9: .* m-1 did not join the cluster within 90 s; its last node died: its store did not start/,
  });
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /m-1 \(cpu\) may be dead: Ray was started there, but the node did not join/);
});

test('a head that does not answer counts for nothing against its workers', async () => {
  const { clock, events, told } = bed();
  const nodeTable = async () => {
    if (clock.now() < 600_000) throw new Error('the GCS is away');
    return [{ ...node, alive: true }];
  };
  await registered(instance, { nodeTable, clock, events }, signal);
  assert.deepEqual(told, []);
});
