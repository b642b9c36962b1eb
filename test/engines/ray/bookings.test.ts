import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineNode, EngineState } from '../../../src/engines/engine.ts';
import { Bookings } from '../../../src/engines/ray/gcs/bookings.ts';

const node = (id: string, available: number, more: Partial<EngineNode> = {}): EngineNode => ({
  id,
  head: id === 'head',
  state: 'alive',
  total: { CPU: 4 },
  available: { CPU: available },
  labels: {},
  idleFor: available === 4 ? 60_000 : 0,
  ...more,
});
const stateOf = (...nodes: EngineNode[]): EngineState => ({
  at: 0,
  nodes,
  demand: { tasks: [], gangs: [], standing: [] },
});
const cpus = (CPU: number) => ({ resources: { CPU }, labels: {} });

describe('room on ray', () => {
  it('is taken by what was handed over before the state shows it, and counted once when it does', () => {
    const bookings = new Bookings();
    const before = stateOf(node('head', 4));
    bookings.add('a', cpus(3), before, 0);
    assert.equal(bookings.hasRoom(cpus(2), before, 10), false);
    assert.equal(bookings.hasRoom(cpus(1), before, 10), true);
    const shown = stateOf(node('head', 1));
    assert.equal(bookings.hasRoom(cpus(1), shown, 20), true);
  });

  it('is given again when what took it has ended', () => {
    const bookings = new Bookings();
    const state = stateOf(node('head', 4));
    bookings.add('a', cpus(4), state, 0);
    bookings.drop('a');
    assert.ok(bookings.hasRoom(cpus(4), state, 1));
  });

  it('goes to those that wait before those that come', () => {
    const bookings = new Bookings();
    bookings.add('waits', cpus(4), stateOf(node('head', 0)), 0);
    const freed = stateOf(node('head', 4));
    assert.equal(bookings.hasRoom(cpus(1), freed, 60_000), false);
    bookings.placed('waits', 'head', freed, 60_000);
    assert.equal(bookings.hasRoom(cpus(1), stateOf(node('head', 0)), 60_001), false);
  });

  it('is on the head alone for what asks for nothing, and on any node for what only asks for labels', () => {
    const bookings = new Bookings();
    const state = stateOf(node('worker', 4, { labels: { zone: 'z' } }));
    assert.equal(bookings.hasRoom({ resources: {}, labels: {} }, state, 0), false);
    assert.ok(bookings.hasRoom({ resources: {}, labels: { zone: 'z' } }, state, 0));
    assert.equal(bookings.hasRoom({ resources: {}, labels: { zone: 'y' } }, state, 0), false);
  });

  it('is nowhere while no state is known, and not on nodes that drain', () => {
    const bookings = new Bookings();
    assert.equal(bookings.hasRoom(cpus(1), undefined, 0), false);
    assert.equal(bookings.hasRoom(cpus(1), stateOf(node('head', 4, { state: 'draining' })), 0), false);
  });
});

describe('room that is held for what is on its way to ray', () => {
  const long = 600_000;

  it('stays taken however long that takes, whatever the state shows, until it is handed over or dropped', () => {
    const bookings = new Bookings();
    const state = stateOf(node('worker', 4));
    bookings.hold('a', cpus(3), state, 0);
    assert.equal(bookings.hasRoom(cpus(2), state, long), false);
    assert.equal(bookings.seenIn(state, long).nodes[0]?.idleFor, 0);
    // Work of others came there meanwhile: what is held is not what they show.
    assert.equal(bookings.hasRoom(cpus(1), stateOf(node('worker', 3)), long), false);
    bookings.add('a', cpus(3), state, long);
    assert.equal(bookings.hasRoom(cpus(1), stateOf(node('worker', 1)), long + 1), true);
    bookings.drop('a');
    assert.ok(bookings.hasRoom(cpus(4), state, long + 2));
  });

  it('is found on another node when its own has gone, and is demand while there is none', () => {
    const bookings = new Bookings();
    bookings.hold('a', cpus(4), stateOf(node('gone', 4)), 0);
    const other = bookings.seenIn(stateOf(node('other', 4)), long);
    assert.deepEqual([other.nodes[0]?.idleFor, other.demand.tasks], [0, []]);
    const full = bookings.seenIn(stateOf(node('gone', 1), node('other', 4)), long);
    assert.deepEqual(
      full.nodes.map(({ available }) => available['CPU']),
      [1, 0],
      'nor where others have taken its room',
    );
    const none = bookings.seenIn(stateOf(node('head', 1)), long);
    assert.deepEqual(none.demand.tasks, [
      { request: { resources: { CPU: 4 }, selectors: [], placement: [] }, count: 1 },
    ]);
  });
});

describe('the view of ray', () => {
  it('shows a node as busy from the moment an attempt was handed to it', () => {
    const bookings = new Bookings();
    const state = stateOf(node('head', 4));
    bookings.add('a', cpus(1), state, 0);
    const [seen] = bookings.seenIn(state, 10).nodes;
    assert.equal(seen?.available.CPU, 3);
    assert.equal(seen?.idleFor, 0);
    assert.equal(bookings.seenIn(stateOf(node('head', 3)), 20).nodes[0]?.available.CPU, 3);
  });

  it('shows what found no room as demand until ray does so itself, and never twice', () => {
    const bookings = new Bookings();
    const full = stateOf(node('head', 0));
    bookings.add('a', cpus(2), full, 0);
    const seen = bookings.seenIn(full, 10).demand.tasks;
    assert.deepEqual(seen, [{ request: { resources: { CPU: 2 }, selectors: [], placement: [] }, count: 1 }]);
    const told = { ...full, demand: { ...full.demand, tasks: seen } };
    assert.deepEqual(bookings.seenIn(told, 20).demand.tasks, seen);
    assert.deepEqual(bookings.seenIn(full, 30).demand.tasks, []);
  });
});
