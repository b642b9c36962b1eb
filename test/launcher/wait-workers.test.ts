import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAnswer } from '../../src/api/types.ts';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import { type EventSink, silent } from '../../src/base/events.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import type { HttpClient } from '../../src/client/http.ts';
import { Troubles, waitForWorkers } from '../../src/launcher/up/wait-workers.ts';
import { localEvents } from '../../src/providers/local/events.ts';
import { never } from '../contract/waiting.ts';

const failed = (instance: string, host: string, failure: string, reason: string) => ({
  seq: 1,
  at: 0,
  code: autoscalerEvents.setupFailed.code,
  level: 'warn' as const,
  text: autoscalerEvents.setupFailed.text({ instance, type: 'worker', reason: `${host}: ${reason}` }),
  instance,
  type: 'worker',
  host,
  failure,
});
const step = 'MANTA_BRINGUP_COMMAND_FAILED';

test('what failed on a host is told once, as it was said last, and how often', () => {
  const troubles = new Troubles();
  for (const instance of ['i1', 'i2', 'i3'])
    troubles.note(failed(instance, '10.0.0.2', step, `make failed at line ${instance}\n    Traceback of ${instance}`));
  troubles.note(failed('i4', '10.0.0.3', step, 'make failed'));
  for (const instance of ['i5', 'i6']) troubles.note(failed(instance, '10.0.0.4', step, 'make failed'));
  troubles.note(failed('i7', '10.0.0.4', 'MANTA_RAY_NO_NODE', 'no node is shown'));
  assert.deepEqual(troubles.words, [
    '3 times: setup of i3 (worker) failed: 10.0.0.2: make failed at line i3\n    Traceback of i3',
    'setup of i4 (worker) failed: 10.0.0.3: make failed',
    '2 times: setup of i6 (worker) failed: 10.0.0.4: make failed',
    'setup of i7 (worker) failed: 10.0.0.4: no node is shown',
  ]);
});

test('hosts that were passed over are told once each, behind the refusal that they explain', () => {
  const troubles = new Troubles();
  const passed = (host: string, seconds: number) => ({
    seq: 1,
    at: 0,
    code: localEvents.passedOver.code,
    level: 'info' as const,
    text: localEvents.passedOver.text({ host, reason: 'its disk is full', seconds }),
    host,
  });
  for (const [host, seconds] of [
    ['a is b', 15],
    ['a is c', 15],
    ['a is b', 30],
  ] as const)
    troubles.note(passed(host, seconds));
  assert.deepEqual(troubles.words, []);
  const { code, level } = autoscalerEvents.refused;
  troubles.note({ seq: 2, at: 0, code, level, text: 'the provider refused worker' });
  assert.deepEqual(troubles.words, [
    'the provider refused worker',
    'skipping host a is b for 30 s: its disk is full',
    'skipping host a is c for 15 s: its disk is full',
  ]);
});

test('as many failures as workers are missing explain them', () => {
  const troubles = new Troubles();
  troubles.note(failed('i1', 'h1', step, 'the same'));
  assert.equal(troubles.explain(2), false);
  troubles.note(failed('i2', 'h2', step, 'the same'));
  assert.equal(troubles.explain(2), true);
});

test('an old node that does not come to its end is named, and waited for no longer than a minute', async () => {
  const worker = (instance: string, status: string, node?: string) =>
    ({ kind: 'worker', instance, status, address: `host of ${instance}`, ...(node && { node }) }) as NodeAnswer;
  const nodes = [worker('i1', 'running', 'n1'), worker('i2', 'terminating')];
  const http = { json: async () => ({ nodes }) } as unknown as Pick<HttpClient, 'json'>;
  const told: string[] = [];
  const events: EventSink = { ...silent, emit: (kind, data) => void told.push(kind.text(data)) };
  let at = 0;
  const clock = { ...wallClock, now: () => at, sleep: async (duration: number) => void (at += duration) };
  const waited = await waitForWorkers(http, 2, { troubles: new Troubles(), events }, never, clock);
  assert.deepEqual(told, [
    'host of i2: waiting up to 60 s for its old node to stop, or for its host to be given up as unresponsive',
  ]);
  assert.equal(waited.running.length, 1);
  assert.deepEqual(waited.troubles, [
    'the node on host of i2 is terminating',
    "no progress for 60 s; see 'manta why demand'",
  ]);
  assert.equal(at, 60_000);
});
