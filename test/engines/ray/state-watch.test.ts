import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineNode, EngineState } from '../../../src/engines/engine.ts';
import { StateWatch } from '../../../src/engines/ray/state-watch.ts';

const state = (available: Readonly<Record<string, number>>, idleFor = 0): EngineState => {
  const node: EngineNode = { id: 'a', head: false, state: 'alive', total: { CPU: 2 }, available, labels: {}, idleFor };
  return { at: 0, nodes: [node], demand: { tasks: [], gangs: [], standing: [] } };
};

describe("the watch of Ray's state", () => {
  const heard = (states: readonly EngineState[]): number => {
    const watch = new StateWatch({ read: () => new Promise(() => {}), busy: () => false });
    let times = 0;
    watch.watch(() => times++);
    for (const each of states) watch.learn(each);
    watch.close();
    return times;
  };

  it('tells of other amounts', () => {
    assert.equal(heard([state({ CPU: 2, memory: 5 }), state({ CPU: 1, memory: 5 })]), 2);
  });

  it('says nothing when Ray names the same amounts in another order, or a node has been idle for longer', () => {
    assert.equal(heard([state({ CPU: 2, memory: 5 }, 10), state({ memory: 5, CPU: 2 }, 20)]), 1);
  });
});
