import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Engine, EngineState } from '../../src/engines/engine.ts';
import { withQueuedDemand } from '../../src/head/report/queued-demand.ts';
import { never } from '../contract/waiting.ts';

const node = { id: 'n', head: false, state: 'alive', total: { CPU: 4 }, available: { CPU: 4 }, labels: {} } as const;
const state: EngineState = {
  at: 0,
  nodes: [{ ...node, idleFor: 600_000 }],
  demand: { tasks: [], gangs: [], standing: [] },
};
const engine: Engine = {
  state: async () => state,
  drain: async () => ({ accepted: true }),
  reportInfeasible: async () => {},
};

it('no node is idle before the queue has asked for the attempts of a former mantad', async () => {
  const queue = { demand: () => ({ tasks: [], gangs: [] }), synced: false };
  const observed = withQueuedDemand(engine, queue);
  assert.equal((await observed.state(never)).nodes[0]?.idleFor, 0);
  queue.synced = true;
  assert.equal((await observed.state(never)).nodes[0]?.idleFor, 600_000);
});
