import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAnswer } from '../../src/api/types.ts';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import { type EventSink, silent } from '../../src/base/events.ts';
import { wallClock } from '../../src/base/wall-clock.ts';
import type { HttpClient } from '../../src/head/client/http.ts';
import { Troubles, waitForWorkers } from '../../src/launcher/wait-workers.ts';
import { never } from '../contract/waiting.ts';

const failed = (instance: string, reason: string) => ({
  seq: 1,
  at: 0,
  code: autoscalerEvents.setupFailed.code,
  level: 'warn' as const,
  text: autoscalerEvents.setupFailed.text({ instance, type: 'worker', reason }),
});

test('what failed on a host is told once, as it was said last, and how often', () => {
  const troubles = new Troubles();
  for (const instance of ['i1', 'i2', 'i3'])
    troubles.note(failed(instance, `10.0.0.2: setup failed with exit code 1: make\n    Traceback of ${instance}`));
  troubles.note(failed('i4', '10.0.0.3: setup failed with exit code 1: make'));
  troubles.note(failed('i5', '10.0.0.4: Ray was started and its head has shown no node of i5 for 60 s'));
  troubles.note(failed('i6', '10.0.0.4: Ray was started and its head has shown no node of i6 for 60 s'));
  assert.deepEqual(troubles.words, [
    '3 times: i3 (worker) could not be set up: 10.0.0.2: setup failed with exit code 1: make\n    Traceback of i3',
    'i4 (worker) could not be set up: 10.0.0.3: setup failed with exit code 1: make',
    '2 times: i6 (worker) could not be set up: 10.0.0.4: Ray was started and its head has shown no node of i6 for 60 s',
  ]);
});

test('as many failures as workers are missing explain them', () => {
  const troubles = new Troubles();
  troubles.note(failed('i1', 'the same for all'));
  assert.equal(troubles.explain(2), false);
  troubles.note(failed('i2', 'the same for all'));
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
    'host of i2: waiting until its old node has ended, or its host is given up as silent, for 60 s at most',
  ]);
  assert.equal(waited.running.length, 1);
  assert.deepEqual(waited.troubles, [
    'the node on host of i2 is terminating',
    "nothing has moved for 60 s: 'manta why demand' says what is waited for",
  ]);
  assert.equal(at, 60_000);
});
