import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Plain } from '../../../../src/core/spec/cluster.ts';
import type { Path } from '../../../../src/core/spec/problem.ts';
import { isMap, type Source } from '../../../../src/core/spec/source.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';
import { corpusFiles, corpusMissing } from './corpus.ts';

describe('real cluster files', { skip: corpusMissing }, () => {
  const files = corpusMissing ? [] : corpusFiles();

  test('have the value that PyYAML gives them', (t) => {
    let compared = 0;
    for (const { name, text, value } of files) {
      if (value === undefined) continue;
      const result = readYaml(name, text);
      assert.ok('source' in result, `${name}: ${JSON.stringify(result)}`);
      assert.deepEqual(JSON.parse(JSON.stringify(result.source.value)), JSON.parse(value), name);
      compared += 1;
    }
    assert.ok(compared > 600);
    t.diagnostic(`${compared} files compared`);
  });

  test('are refused where PyYAML refuses them, with one problem in the file', () => {
    for (const { name, text, verdict } of files) {
      const result = readYaml(name, text);
      assert.equal('problems' in result, verdict === 'YAMLERR', name);
      if (!('problems' in result)) continue;
      assert.equal(result.problems.length, 1);
      const [problem] = result.problems;
      assert.match(problem?.code ?? '', /^MANTA_SPEC_YAML_/);
      assert.ok(problem?.hint, name);
      assert.ok((problem?.at.line ?? 0) >= 1 && (problem?.at.line ?? 0) <= text.split(/\r\n|\n|\r/).length, name);
    }
  });

  test('know where each of their values stands: its text alone reads as the value', () => {
    let seen = 0;
    for (const { name, text } of files) {
      const result = readYaml(name, text);
      if (!('source' in result)) continue;
      for (const path of scalarPaths(result.source.value, [])) {
        const place = result.source.rangeOf(path);
        assert.ok(place, `${name} ${path.join('.')}`);
        const written = text.slice(place.value.start, place.value.end);
        if (place.shared || /^[*&!|>]|\n/.test(written)) continue;
        const again = readYaml('value', ` ${written}`);
        assert.ok('source' in again, `${name} ${path.join('.')}: ${written}`);
        assert.deepEqual(again.source.value, valueAt(result.source, path), `${name} ${path.join('.')}`);
        seen += 1;
      }
    }
    assert.ok(seen > 10_000);
  });
});

function* scalarPaths(value: Plain, path: Path): Iterable<Path> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* scalarPaths(item as Plain, [...path, index]);
  else if (isMap(value)) for (const [key, item] of Object.entries(value)) yield* scalarPaths(item, [...path, key]);
  else yield path;
}

function valueAt(source: Source, path: Path): Plain {
  return path.reduce<Plain>((value, part) => (value as Record<string | number, Plain>)[part] as Plain, source.value);
}
