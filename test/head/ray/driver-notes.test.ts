import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscalerEvents } from '../../../src/autoscaler/events.ts';
import type { InfeasibleDemand } from '../../../src/core/plan/plan.ts';
import { DriverNotes } from '../../../src/head/ray/watch/driver-notes.ts';

/** Notes whose time stands still until it is moved. */
function bed() {
  let now = 1_000;
  let waiting: (() => void)[] = [];
  const clock = { now: () => now, sleep: () => new Promise<void>((resolve) => waiting.push(resolve)) };
  const told: string[] = [];
  const notes = new DriverNotes(clock, (lines) => told.push(...lines.map(({ level, text }) => `${level} ${text}`)));
  const later = async (by = 500): Promise<string[]> => {
    now += by;
    for (const each of waiting.splice(0)) each();
    waiting = [];
    await new Promise((resolve) => setImmediate(resolve));
    return told.splice(0);
  };
  return { notes, later };
}

const launching = (type: string, count: number) => ({ type, count, market: 'spot' as const, token: 't', because: [] });

test('nodes that are asked for together are one line for drivers, in the words of Ray', async () => {
  const { notes, later } = bed();
  notes.hear(autoscalerEvents.launching, launching('gpu', 2));
  notes.hear(autoscalerEvents.launching, launching('gpu', 3));
  notes.hear(autoscalerEvents.launching, launching('cpu', 1));
  assert.deepEqual(await later(), ['info Adding 5 node(s) of type gpu.', 'info Adding 1 node(s) of type cpu.']);
});

test('a node that is drained is told once, a lost one with the reason', async () => {
  const { notes, later } = bed();
  const idle = { kind: 'idle', idleFor: 60_000, timeout: 60_000 } as const;
  const stopped = { kind: 'follow-up', status: 'stopped' } as const;
  const of = (instance: string) => ({ instance, type: 'cpu' });
  notes.hear(autoscalerEvents.ended, { ...of('a'), how: 'drain', because: idle });
  notes.hear(autoscalerEvents.ended, { ...of('a'), how: 'terminate', because: stopped });
  notes.hear(autoscalerEvents.ended, { ...of('b'), how: 'terminate', because: stopped });
  notes.hear(autoscalerEvents.ended, { ...of('c'), how: 'drain', because: { kind: 'preemption', deadline: 9_000 } });
  assert.deepEqual(await later(), [
    'info Removing 1 nodes of type cpu (idle).',
    'info Removing 1 nodes of type cpu (its node was lost).',
    'info Removing 1 nodes of type cpu (the provider is reclaiming it).',
  ]);
});

test('the same trouble is told again only when it is news', async () => {
  const { notes, later } = bed();
  const refused = { type: 'gpu', zone: 'z1', market: 'spot', reason: 'no-capacity', times: 1, until: 0 };
  const line = 'warn Could not launch nodes of type gpu (spot, z1): no-capacity.';
  notes.hear(autoscalerEvents.refused, refused);
  assert.deepEqual(await later(), [line]);
  notes.hear(autoscalerEvents.refused, refused);
  assert.deepEqual(await later(), []);
  await later(300_000);
  notes.hear(autoscalerEvents.refused, refused);
  assert.deepEqual(await later(), [line]);
});

test('a launch that was never answered is told as that', async () => {
  const { notes, later } = bed();
  notes.hear(autoscalerEvents.givenUp, { type: 'cpu', market: 'spot', said: 'HTTP status 500', times: 1, until: 0 });
  assert.deepEqual(await later(), ['warn No response to a launch of nodes of type cpu (spot) (HTTP status 500).']);
});

test('what no node type can hold is told with what the types have', async () => {
  const { notes, later } = bed();
  const demand: InfeasibleDemand = {
    kind: 'tasks',
    request: { resources: { CPU: 64 }, selectors: [], placement: [] },
    count: 2,
    types: [{ type: 'cpu', why: { kind: 'too-small', resource: 'CPU', asked: 64, has: 4 } }],
  };
  notes.infeasible([demand]);
  notes.infeasible([demand]);
  assert.deepEqual(await later(), [
    'warn No node type can ever fit 2 tasks of 64 CPU: cpu: it has 4 CPU, but 64 CPU is needed.',
  ]);
});

test('however much happens, drivers get few lines, and are told how many were left out', async () => {
  const { notes, later } = bed();
  for (let at = 0; at < 100; at++) notes.hear(autoscalerEvents.launching, launching(`t${at}`, 1));
  assert.equal((await later()).length, 30);
  notes.hear(autoscalerEvents.launching, launching('late', 1));
  assert.deepEqual(await later(60_000), [
    "info 70 more lines were left out; see 'manta events' for all of them.",
    'info Adding 1 node(s) of type late.',
  ]);
});
