import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prepareAsRay } from '../../../../src/core/spec/ray/prepare.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';
import { providers } from '../../../../src/providers/table.ts';
import { type CorpusFile, corpusFiles, corpusMissing } from '../yaml/corpus.ts';
import { validateAsRay } from './validate.ts';

/** Where Manta follows Ray 2.60 and the recorded verdict is that of an older Ray. */
const differences: Readonly<Record<string, string>> = {
  'PREPFAIL NotImplementedError: Unsupported node provider: spark': 'ACCEPT',
};

function verdictOf({ name, text }: CorpusFile): string {
  const read = readYaml(name, text);
  if ('problems' in read) return 'YAMLERR';
  const prepared = prepareAsRay(read.source, providers);
  if ('problems' in prepared) return 'PREPFAIL';
  return validateAsRay(prepared.config, read.source).length === 0 ? 'ACCEPT' : 'REJECT';
}

describe('real cluster files', { skip: corpusMissing }, () => {
  const files = corpusMissing ? [] : corpusFiles();

  test('are prepared as Ray prepares them', (t) => {
    let compared = 0;
    for (const { name, text, prepared } of files) {
      if (prepared === undefined) continue;
      const read = readYaml(name, text);
      assert.ok('source' in read, name);
      const result = prepareAsRay(read.source, providers);
      assert.ok('config' in result, `${name}: ${JSON.stringify(result)}`);
      assert.deepEqual(JSON.parse(JSON.stringify(result.config)), JSON.parse(prepared), name);
      compared += 1;
    }
    t.diagnostic(`${compared} files compared`);
    assert.ok(compared > 500);
  });

  test('are accepted and refused as Ray does', () => {
    for (const file of files) {
      const expected = differences[file.verdict] ?? file.verdict.split(' ')[0];
      assert.equal(verdictOf(file), expected, `${file.name}: ${file.verdict}`);
    }
  });

  test('name in their refusals every key that Ray names', () => {
    for (const { name, text, verdict } of files) {
      const named = /Additional properties are not allowed \((.*) (?:was|were) unexpected\)/.exec(verdict);
      const read = readYaml(name, text);
      if (named === null || 'problems' in read) continue;
      const prepared = prepareAsRay(read.source, providers);
      assert.ok('config' in prepared, name);
      const problems = validateAsRay(prepared.config, read.source);
      for (const [, key] of (named[1] as string).matchAll(/'([^']*)'/g)) {
        assert.ok(
          problems.some(({ code, message }) => code === 'MANTA_SPEC_RAY_KEY' && message.includes(`'${key}'`)),
          `${name}: ${key}`,
        );
      }
    }
  });
});
