import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { place } from '../../../src/core/placement/placement.ts';
import type { Room } from '../../../src/core/placement/room.ts';
import type { EngineNode } from '../../../src/engines/engine.ts';
import { brokenSlice, onSlices, withHeld } from '../../../src/engines/ray/jobs/gang-slices.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';

/** The hosts of a slice of two; `there` are those that have registered. */
const slice = (name: string, there: readonly number[] = [0, 1], free = 4): EngineNode[] =>
  there.map((index) => {
    const total = { TPU: 4, [name]: 1, ...(index === 0 && { 'TPU-v4-16-head': 1 }) };
    return {
      ...{ id: `${name}${index}`, head: false, state: 'alive' as const, total, available: { ...total, TPU: free } },
      labels: { 'ray.io/tpu-slice-name': name, 'manta/slice-hosts': '2' },
      idleFor: 60_000,
    };
  });

const gang = (count: number) => ({
  ...{ resources: {}, labels: {} },
  gang: { bundles: Array.from({ length: count }, () => ({ 'TPU-v4-16-head': 1 })), strategy: 'STRICT_SPREAD' },
});
const placed = (count: number, nodes: readonly Room[]) => place(gang(count), nodes)?.map(({ node }) => node);

describe('a job across slices', () => {
  it('starts on whole slices only', () => {
    assert.deepEqual(placed(2, [...slice('a'), ...slice('b')]), ['a0', 'b0']);
    assert.equal(placed(2, [...slice('a'), ...slice('b', [0])]), undefined, 'a host of b is not there yet');
    assert.equal(placed(2, [...slice('a'), ...slice('b', [0, 1], 0)]), undefined, 'others work on b');
    assert.deepEqual(placed(2, [...slice('a', [0]), ...slice('b'), ...slice('c')]), ['b0', 'c0']);
  });

  it('leaves the slices of other jobs alone, which are not idle', () => {
    const held = withHeld([...slice('a'), ...slice('b')], new Set(['a']));
    assert.equal(placed(2, held), undefined);
    assert.deepEqual(placed(1, held), ['b0']);
    assert.deepEqual(
      held.map(({ idleFor }) => idleFor),
      [0, 0, 60_000, 60_000],
    );
  });

  it('is told its slices, and runs on the first host of the first', () => {
    const order = { ...gang(2), own: { MANTA_JOB: 'j' } } as unknown as AttemptOrder;
    const { own, labels } = onSlices(order, [
      { name: 'b', hosts: 2 },
      { name: 'a', hosts: 2 },
    ]);
    assert.deepEqual(own, { MANTA_JOB: 'j', MANTA_SLICES: '["b","a"]' });
    assert.deepEqual(labels, { 'ray.io/tpu-slice-name': 'b' });
  });

  it('has lost a slice when one of its hosts is dead; one that drains may still finish', () => {
    const both = [
      { name: 'a', hosts: 2 },
      { name: 'b', hosts: 2 },
    ];
    const [first, second] = slice('b') as [EngineNode, EngineNode];
    const nodes = (state: EngineNode['state']) => [...slice('a'), first, { ...second, state }];
    assert.equal(brokenSlice(both, nodes('alive'), false), undefined);
    assert.equal(brokenSlice(both, nodes('dead'), false), 'b');
    assert.equal(brokenSlice(both, nodes('draining'), false), undefined);
    assert.equal(brokenSlice(both, nodes('draining'), true), 'b');
  });
});
