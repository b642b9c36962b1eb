import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amountOf, sumResources } from '../../src/core/resources.ts';

const names = fc.constantFrom('CPU', '8', 'constructor', '__proto__', 'toString', 'hasOwnProperty');
const amounts = fc
  .array(fc.tuple(names, fc.integer({ min: 0, max: 9 })))
  .map((entries): Record<string, number> => Object.fromEntries(entries));

test('a resource may have any name, also one that every object has', () => {
  fc.assert(
    fc.property(fc.array(amounts), names, (parts, name) => {
      const expected = parts.reduce((sum, part) => sum + (Object.hasOwn(part, name) ? (part[name] as number) : 0), 0);
      assert.equal(amountOf(sumResources(parts), name), expected);
    }),
  );
});
