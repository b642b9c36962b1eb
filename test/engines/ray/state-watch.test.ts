import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { EngineNode, EngineState } from '../../../src/engines/engine.ts';
import { StateWatch } from '../../../src/engines/ray/gcs/state-watch.ts';

const state = (available: Readonly<Record<string, number>>, idleFor = 0): EngineState => {
  const node: EngineNode = { id: 'a', head: false, state: 'alive', total: { CPU: 2 }, available, labels: {}, idleFor };
  return { at: 0, nodes: [node], demand: { tasks: [], gangs: [], standing: [] } };
};

describe("the watch of Ray's state", () => {
  const heard = (states: readonly EngineState[]): number => {
    const watch = new StateWatch({ clock: wallClock, read: () => new Promise(() => {}), busy: () => false });
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

  /** The pauses between the first looks at a state. */
  const pauses = async (read: () => Promise<EngineState>): Promise<readonly number[]> => {
    const asked: number[] = [];
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const watch = new StateWatch({
      read,
      busy: () => true,
      clock: {
        ...wallClock,
        sleep: async (period) => {
          if (asked.push(period) === 12) resolve();
          if (asked.length >= 12) await new Promise(() => {});
        },
      },
    });
    await enough;
    watch.close();
    return asked;
  };

  it('looks as often while the process is busy with other things', async () => {
    const asked = await pauses(async () => {
      const began = performance.now();
      while (performance.now() - began < 30);
      return state({ CPU: 1 });
    });
    assert.deepEqual([...new Set(asked)], [250]);
  });

  it('looks less often at a cluster so large that looking costs much', async () => {
    const one = state({ CPU: 1, memory: 5 });
    const nodes = Array.from({ length: 20_000 }, (_, at) => ({ ...(one.nodes[0] as EngineNode), id: `n${at}` }));
    const asked = await pauses(async () => ({ ...one, nodes }));
    assert.ok((asked.at(-1) ?? 0) > 1_000, asked.join());
  });
});
