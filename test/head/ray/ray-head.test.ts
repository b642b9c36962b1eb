import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headNode } from '../../../src/head/ray/ray-head.ts';
import { never } from '../../contract/waiting.ts';

type Engine = Parameters<typeof headNode>[0];

test('a head whose node has died is left alone while other nodes work', async () => {
  const fate = (heads: readonly boolean[], workers: readonly (readonly ['alive' | 'draining' | 'dead', number])[]) =>
    headNode(
      {
        nodeTable: async () => heads.map((alive) => ({ head: true, alive })),
        stateAsRayHasIt: async () => ({ nodes: workers.map(([state, idleFor]) => ({ head: false, state, idleFor })) }),
      } as unknown as Engine,
      never,
    );
  assert.equal(await fate([], []), 'alive', 'it may be on its way');
  assert.equal(await fate([false, true], [['alive', 0]]), 'alive');
  assert.equal(await fate([false], []), 'gone');
  assert.equal(await fate([false], [['alive', 7_000]]), 'gone');
  assert.equal(await fate([false], [['dead', 0]]), 'gone');
  assert.equal(
    await fate(
      [false],
      [
        ['alive', 7_000],
        ['draining', 0],
      ],
    ),
    'gone-and-others-work',
  );
});
