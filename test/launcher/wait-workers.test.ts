import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import { Troubles } from '../../src/launcher/wait-workers.ts';

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
