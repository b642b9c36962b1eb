import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceBook, fits, minus, plus } from '../../../src/core/placement/booking.ts';
import { matchesLabels } from '../../../src/core/placement/labels.ts';

import { place } from '../../../src/core/placement/placement.ts';
import type { Room } from '../../../src/core/placement/room.ts';
import type { Resources } from '../../../src/core/resources.ts';
import { fc } from '../../property.ts';

const amount = fc.integer({ min: 0, max: 80 }).map((tenths) => tenths / 10);
const resources = fc.record({ CPU: amount, memory: fc.integer({ min: 0, max: 10 }) });
const rooms = fc.array(fc.tuple(resources, resources), { maxLength: 8 }).map((parts) =>
  parts.map(
    ([available, used], index): Room => ({
      id: `i-${index}`,
      head: index === 0,
      total: plus(available, used),
      available,
      labels: { zone: index % 2 ? 'a' : 'b' },
    }),
  ),
);
const roomOf = (index: number, available: Resources): Room => ({
  id: `i-${index}`,
  head: false,
  total: available,
  available,
  labels: {},
});
const strategies = ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'] as const;

test('a placement never books more than a node has', () => {
  const gangs = fc.record({
    bundles: fc.array(resources, { minLength: 1, maxLength: 6 }),
    strategy: fc.constantFrom(...strategies),
  });
  fc.assert(
    fc.property(rooms, resources, fc.option(gangs, { nil: undefined }), (nodes, asked, gang) => {
      const placement = place({ resources: asked, labels: {}, ...(gang ? { gang } : {}) }, nodes);
      for (const node of nodes) {
        const booked = plus(...(placement ?? []).filter((part) => part.node === node.id).map((part) => part.resources));
        assert.ok(fits(booked, node.available), `${JSON.stringify(booked)} on ${JSON.stringify(node)}`);
      }
      if (placement && gang) {
        assert.equal(placement.length, gang.bundles.length);
        const used = new Set(placement.map((part) => part.node)).size;
        if (gang.strategy === 'STRICT_PACK') assert.equal(used, 1);
        if (gang.strategy === 'STRICT_SPREAD') assert.equal(used, gang.bundles.length);
      }
    }),
  );
});

test('what fits on some node is placed', () => {
  fc.assert(
    fc.property(rooms, resources, (nodes, asked) => {
      const wanted = { ...asked, CPU: asked.CPU + 0.1 };
      const placement = place({ resources: wanted, labels: {} }, nodes);
      assert.equal(
        placement !== undefined,
        nodes.some((node) => fits(wanted, node.available)),
      );
    }),
  );
});

test('a gang that must be apart is placed whenever some assignment exists', () => {
  const few = rooms.map((nodes) => nodes.slice(0, 4));
  fc.assert(
    fc.property(few, fc.array(resources, { minLength: 1, maxLength: 4 }), (nodes, bundles) => {
      const possible = (left: readonly Room[], parts: typeof bundles): boolean => {
        const [first, ...rest] = parts;
        if (!first) return true;
        return left.some(
          (node) =>
            fits(first, node.available) &&
            possible(
              left.filter((each) => each !== node),
              rest,
            ),
        );
      };
      const placement = place({ resources: {}, labels: {}, gang: { bundles, strategy: 'STRICT_SPREAD' } }, nodes);
      assert.equal(placement !== undefined, possible(nodes, bundles));
    }),
  );
});

test('a gang is placed also where few of many ways lead on', () => {
  const cases = [
    { strategy: 'PACK', parts: [3, 4, 4, 4, 4, 4, 3, 4, 5, 5, 3, 5], left: [6, 8, 8, 8, 9, 9] },
    { strategy: 'SPREAD', parts: [2, 5, 3, 4, 3, 5, 4, 3, 3, 4, 3, 3, 3], left: [8, 7, 6, 6, 10, 9] },
    { strategy: 'PACK', parts: [2, 4, 4, 5, 5, 2, 2, 4, 5, 4, 4, 4, 4], left: [9, 6, 8, 7, 9, 10] },
  ];
  for (const { strategy, parts, left } of cases) {
    const bundles = parts.map((CPU) => ({ CPU }));
    const nodes = left.map((CPU, index) => roomOf(index, { CPU }));
    const placement = place({ resources: {}, labels: {}, gang: { bundles, strategy } }, nodes);
    assert.equal(placement?.length, parts.length, `${strategy} ${parts.join()} on ${left.join()}`);
  }
});

test('gangs without room are refused soon: what took time by the number of ways would not end here', () => {
  for (const strategy of ['PACK', 'SPREAD', 'STRICT_SPREAD'])
    for (let different = 0; different < 300; different++) {
      const CPU = 1.2 + different / 10_000;
      const nodes = Array.from({ length: 40 }, (_, index) => roomOf(index, { CPU: index === 0 ? 1 : 2 }));
      const bundles = Array.from({ length: 40 }, () => ({ CPU }));
      assert.equal(place({ resources: {}, labels: {}, gang: { bundles, strategy } }, nodes), undefined);
    }
});

test('booking and giving back comes out even, fractions included', () => {
  fc.assert(
    fc.property(resources, fc.array(resources, { maxLength: 20 }), (total, parts) => {
      const booked = plus(...parts);
      const left = parts.reduce(minus, total);
      for (const name of ['CPU', 'memory'] as const)
        assert.ok(Math.abs((left[name] ?? 0) + (booked[name] ?? 0) - total[name]) < 1e-9);
    }),
  );
});

test('labels match as in Ray', () => {
  const has = { zone: 'a', tier: 'gold' };
  assert.ok(matchesLabels({}, has));
  assert.ok(matchesLabels({ zone: 'a' }, has));
  assert.ok(matchesLabels({ zone: 'in(a, b)', tier: '!silver' }, has));
  assert.ok(matchesLabels({ absent: '!x' }, has));
  assert.ok(matchesLabels({ absent: '!in(x,y)' }, has));
  assert.ok(!matchesLabels({ zone: 'b' }, has));
  assert.ok(!matchesLabels({ zone: '!in(a,b)' }, has));
  assert.ok(!matchesLabels({ absent: 'x' }, has));
});

test('whole devices are given alone and fractions share', () => {
  const book = new DeviceBook([4, 5]);
  assert.deepEqual(book.take('half', 0.5), [4]);
  assert.deepEqual(book.take('other half', 0.5), [4]);
  assert.deepEqual(book.take('whole', 1), [5]);
  assert.equal(book.take('more', 0.1), undefined);
  assert.deepEqual(book.take('whole', 1), [5]);
  book.release('whole');
  assert.equal(book.take('two', 2), undefined);
  book.release('half');
  book.release('other half');
  assert.deepEqual(book.take('two', 2), [4, 5]);
});
