import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onceSettled } from '../../src/kube/settle.ts';

const done = { state: 'done', says: 'serving' } as const;
const slice = (...addresses: readonly string[]) => [
  { endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })) },
];

test('nothing is done until the addresses behind the Service have been the same for a moment', () => {
  let now = 0;
  const settled = onceSettled({ now: () => now, sleep: () => Promise.resolve() });
  const at = (time: number, ...addresses: readonly string[]): string => {
    now = time;
    return settled(done, slice(...addresses)).state;
  };
  assert.deepEqual(
    [at(0, '10.0.0.1'), at(1_100, '10.0.0.1'), at(1_200, '10.0.0.1'), at(1_300, '10.0.0.2'), at(2_500, '10.0.0.2')],
    ['waiting', 'waiting', 'done', 'waiting', 'done'],
  );
  assert.equal(settled({ state: 'waiting', says: 'no cluster yet' }, slice('10.0.0.2')).says, 'no cluster yet');
});

test('whoever may not see the addresses does not wait for them', () => {
  const settled = onceSettled({ now: () => 0, sleep: () => Promise.resolve() });
  assert.equal(settled(done, undefined).state, 'done');
});
