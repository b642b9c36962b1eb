import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plain } from '../../../../src/core/spec/cluster.ts';
import { prepareAsRay } from '../../../../src/core/spec/ray/prepare.ts';
import { isMap, type Source } from '../../../../src/core/spec/source.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';
import { providers } from '../../../../src/providers/table.ts';
import { fc } from '../../../property.ts';
import { validateAsRay } from '../ray/validate.ts';
import { seed, yamlText } from './texts.ts';

test('whatever the text, reading, preparing and judging it answer', (t) => {
  t.diagnostic(`seed ${seed}; another one by MANTA_SEED`);
  let accepted = 0;
  fc.assert(
    fc.property(yamlText, (text) => {
      const result = readYaml('cluster.yaml', text);
      if ('problems' in result) {
        assert.equal(result.problems.length, 1);
        checkPosition(text, result.problems[0]?.at);
        return;
      }
      accepted += 1;
      checkPlaces(result.source, result.source.value, []);
      const prepared = prepareAsRay(result.source, providers);
      const problems = 'problems' in prepared ? prepared.problems : validateAsRay(prepared.config, result.source);
      for (const problem of problems) checkPosition(text, problem.at);
    }),
    { seed, numRuns: 3000 },
  );
  assert.ok(accepted > 300);
});

function checkPosition(text: string, at: { line: number; column: number } | undefined): void {
  const lines = text.split(/\r\n|\n|\r/);
  assert.ok(at !== undefined && at.line >= 1 && at.line <= lines.length);
  assert.ok(at.column >= 1 && at.column <= (lines[at.line - 1] ?? '').length + 1);
}

/** Every value has a place, and no place is outside of the text. */
function checkPlaces(source: Source, value: Plain, path: readonly (string | number)[]): void {
  if (path.length > 4) return;
  const place = source.rangeOf(path);
  if (place !== undefined) assert.ok(place.value.start <= place.value.end && place.value.end <= source.text.length);
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) checkPlaces(source, item as Plain, [...path, index]);
  if (!isMap(value)) return;
  assert.deepEqual(new Set(source.keys(path)), new Set(Object.keys(value)));
  for (const [key, item] of Object.entries(value)) checkPlaces(source, item, [...path, key]);
}
