import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EngineNode } from '../../../src/engines/engine.ts';
import { IdleClocks } from '../../../src/engines/ray/gcs/idle-clocks.ts';

const node = (id: string, idleFor: number, more: Partial<EngineNode> = {}): EngineNode => ({
  id,
  head: id === 'head',
  state: 'alive',
  total: { CPU: 2, object_store_memory: 100 },
  available: { CPU: 2, object_store_memory: 90 },
  labels: {},
  idleFor,
  ...more,
});

/** What is told of the idle times when Ray tells these, in this order. */
function told(...reads: readonly (readonly [at: number, ...nodes: readonly EngineNode[]])[]): Record<string, number>[] {
  const clocks = new IdleClocks();
  return reads.map(([at, ...nodes]) => {
    const state = clocks.read({ at: 0, nodes, demand: { tasks: [], gangs: [], standing: [] } }, at);
    return Object.fromEntries(state.nodes.map(({ id, idleFor }) => [id, idleFor]));
  });
}

it('the idle time of a node goes on when Ray counts it anew because another has ended', () => {
  const [, gone, moment, later, much, next, again] = told(
    [10_000, node('a', 9_900), node('b', 9_800), node('head', 30_000)],
    [10_300, node('a', 10_200, { state: 'dead' }), node('b', 10_100), node('head', 30_300)],
    [10_400, node('b', 0), node('head', 2)],
    [11_000, node('b', 600), node('head', 602)],
    [60_000, node('b', 49_600), node('c', 49_000), node('head', 49_602)],
    [61_000, node('b', 50_600), node('head', 50_602)],
    [61_500, node('b', 400), node('head', 400)],
  );
  assert.deepEqual([gone?.['b'], moment?.['b'], later?.['b'], much?.['b']], [10_100, 0, 10_800, 59_800]);
  assert.deepEqual([next?.['b'], again?.['b']], [60_800, 61_300], 'and once more with the next end');
  assert.equal(later?.['head'], 31_000);
});

it('what has worked since counts anew, also where a node has ended', () => {
  const busy = { available: { CPU: 1, object_store_memory: 90 } };
  const [, , after] = told(
    [10_000, node('a', 9_000), node('b', 9_000)],
    [10_100, node('b', 0, busy)],
    [11_000, node('b', 500)],
  );
  assert.equal(after?.['b'], 500);
});

it('a count that begins anew while no node ends is what Ray says it is', () => {
  const [, after] = told([10_000, node('a', 9_000)], [10_500, node('a', 100)]);
  assert.equal(after?.['a'], 100);
});

it('a node that works for a moment again and again, which no look sees, is not idle', () => {
  const clocks = told([0, node('a', 50)], ...[1, 2, 3, 4, 5, 6, 7, 8].map((at) => [at * 300, node('a', 50)] as const));
  assert.ok(
    clocks.every(({ a }) => (a as number) <= 700),
    JSON.stringify(clocks),
  );
});

it('a node that comes counts from when it is first seen, not from when its processes started', () => {
  const [, first, later, end] = told(
    [10_000, node('a', 9_000)],
    [10_500, node('a', 9_500), node('b', 4_000)],
    [11_500, node('a', 10_500), node('b', 5_000)],
    [12_000, node('b', 5_500)],
  );
  assert.deepEqual([first?.['b'], later?.['b'], later?.['a'], end?.['b']], [1, 1_000, 10_500, 1_500]);
});
