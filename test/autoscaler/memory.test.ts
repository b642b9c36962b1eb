import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScalingFact } from '../../src/autoscaler/journal.ts';
import { Ledger } from '../../src/autoscaler/ledger.ts';
import { refuse } from '../../src/autoscaler/refusals.ts';
import { steadyClock } from '../../src/base/time/steady-clock.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, seconds } from './loop-in-world.ts';

const offer = { type: 'cpu', zone: 'a', market: 'on-demand' as const };

test('the pause after a refusal doubles up to ten minutes and is forgotten after a calm time', () => {
  let refusal = refuse(undefined, offer, { reason: 'no-capacity' }, 0);
  assert.deepEqual([refusal.times, refusal.until], [1, 30_000]);
  refusal = refuse(refusal, offer, { reason: 'no-capacity' }, 30_000);
  assert.deepEqual([refusal.times, refusal.until], [2, 90_000]);
  for (let round = 0; round < 10; round++) refusal = refuse(refusal, offer, { reason: 'no-capacity' }, refusal.until);
  assert.equal(refusal.until - refusal.last, 600_000);
  assert.equal(refuse(refusal, offer, { reason: 'no-capacity' }, refusal.until + 1_200_001).times, 1);
});

test('a clock that was set back does not stretch a back-off', () => {
  const ledger = new Ledger();
  ledger.apply({ kind: 'refused', at: 0, refusal: refuse(undefined, offer, { reason: 'no-capacity' }, 1_000_000) });
  ledger.foldedAt(500_000);
  const [refusal] = ledger.memory.refusals;
  assert.equal(refusal?.until, 530_000);
});

test('after a start with a clock that was set back the pause of a type goes on to grow', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '20s' }] });
  const starter = { bringUp: () => Promise.reject(new Error('no driver')), halt: async () => {} };
  const before = loopIn(world, { starter });
  before.start();
  await seconds(world, 100);
  before.stop();
  await seconds(world, 20);
  const known = before.journal.facts.length;
  world.clock.offset = -5 * 3_600_000;
  let ids = 0;
  const after = loopIn(world, { starter, journal: before.journal, newId: () => `later-${++ids}` });
  after.start();
  await seconds(world, 900);
  after.stop();
  const times = before.journal.facts
    .slice(known)
    .flatMap((fact) => (fact.kind === 'refused' && fact.refusal.type === 'gpu' ? fact.refusal.times : []));
  assert.ok(times.length > 2);
  assert.deepEqual(
    times,
    times.map((_, index) => (times[0] ?? 0) + index),
  );
  assert.ok((times[0] ?? 0) > 1);
});

test('the journal folds to the same ledger however often it is read', async () => {
  const world = worldOf(
    { work: [{ tasks: 12, needs: { CPU: 1 }, duration: '20s' }] },
    { noCapacity: 0.3, setupFailure: 0.3 },
  );
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 200);
  const fold = (facts: readonly ScalingFact[]): string => {
    const ledger = new Ledger();
    for (const fact of facts) assert.ok(ledger.apply(fact));
    return JSON.stringify([[...ledger.records], ledger.memory]);
  };
  assert.ok(loop.journal.facts.length > 10);
  assert.equal(fold(loop.journal.facts), fold(structuredClone(loop.journal.facts)));
});

test('facts outlive JSON: what is written can be read back', async () => {
  const world = worldOf({ work: [{ tasks: 4, needs: { CPU: 1 }, duration: '20s' }] });
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 150);
  assert.deepEqual(JSON.parse(JSON.stringify(loop.journal.facts)), loop.journal.facts);
});

test('a steady clock does not follow a clock that is set', () => {
  let wall = 1_000;
  let elapsed = 50;
  const clock = steadyClock({ now: () => wall, elapsed: () => elapsed, sleep: () => Promise.resolve() });
  wall = 9_999_999;
  elapsed = 80;
  assert.equal(clock.now(), 1_030);
});
