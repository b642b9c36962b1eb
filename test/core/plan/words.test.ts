import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  durationWords,
  endWords,
  infeasibleWords,
  launchWords,
  passReasonWords,
  placeWords,
  resourceWords,
  waitingWords,
} from '../../../src/core/plan/words.ts';

const now = 1_700_000_000_000;
const request = { resources: { CPU: 2 }, selectors: [], placement: [] };

test('what holds a demand up is told per type, with the time of the next try', () => {
  const refusal = {
    type: 'spot',
    market: 'spot',
    reason: 'no-capacity',
    times: 3,
    last: now,
    until: now + 30_000,
  } as const;
  assert.equal(
    passReasonWords({ kind: 'refused', refusal }, now),
    'the provider has no capacity, 3 times in a row; retrying in 30 s',
  );
  assert.equal(
    passReasonWords({ kind: 'refused', refusal: { ...refusal, times: 1 } }, now + 60_000),
    'the provider has no capacity',
  );
  assert.equal(
    passReasonWords({ kind: 'too-small', resource: 'GPU', asked: 4, has: 1 }, now),
    'it has 1 GPU, but 4 GPU is needed',
  );
  assert.equal(
    passReasonWords({ kind: 'narrow', broader: 'm5' }, now),
    'it does not fit other work of the cluster, which m5 does for little more',
  );
  assert.equal(placeWords({ type: 'cpu', zone: 'a', market: 'spot', why: { kind: 'labels' } }), 'cpu (a, spot)');
  assert.equal(placeWords({ type: 'cpu', market: 'on-demand', why: { kind: 'labels' } }), 'cpu');
});

test('lengths of time are told in one unit that people use', () => {
  assert.deepEqual([0, 90_000, 600_000, 8_640_000, 400_000_000].map(durationWords), [
    '0 s',
    '90 s',
    '10 min',
    '2.4 h',
    '5 days',
  ]);
});

test('resources are told by name, memory in units', () => {
  assert.equal(resourceWords({ CPU: 0.5, memory: 3 * 2 ** 30, GPU: 0 }), '0.5 CPU, 3 GiB memory');
  assert.equal(resourceWords({}), 'nothing');
});

test('launches, waits and ends are whole sentences, one or many', () => {
  assert.equal(launchWords([{ serves: { kind: 'tasks', request, count: 1 }, instead: [] }]), '1 task of 2 CPU');
  const waiting = (count: number) =>
    waitingWords(
      { demand: { kind: 'tasks', request, count }, for: [{ type: 'a', why: { kind: 'type-limit', max: 3 } }] },
      now,
    );
  assert.equal(waiting(1), '1 task of 2 CPU waits: a: its max_workers of 3 is reached');
  assert.equal(waiting(2), '2 tasks of 2 CPU wait: a: its max_workers of 3 is reached');
  assert.equal(endWords({ kind: 'idle', idleFor: 61_000, timeout: 60_000 }, now), 'idle for 61 s, the limit is 60 s');
});

test('demand beyond max_workers is told apart from demand that no type can hold', () => {
  const standing = { requests: [{ request, count: 9 }] };
  const told = (types: Parameters<typeof infeasibleWords>[0]['types']): string =>
    infeasibleWords({ kind: 'standing', standing, types }, now);
  const limit = { type: 'a', why: { kind: 'type-limit', max: 2 } } as const;
  const none = { type: 'head', why: { kind: 'type-limit', max: 0 } } as const;
  const small = { type: 'a', why: { kind: 'too-small', resource: 'CPU', asked: 2, has: 1 } } as const;
  assert.equal(
    told([none, limit]),
    'request_resources needs more nodes than max_workers allows: a: its max_workers is 2',
  );
  assert.match(told([small, limit]), /^no node type can ever fit request_resources/);
});
