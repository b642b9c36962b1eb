import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const nine = (name: string): string => Array.from({ length: 9 }, () => name).join(', ');

describe('hostile files are refused', () => {
  const cases: [name: string, code: string, text: string][] = [
    ['ten megabytes', 'TOO_BIG', 'a: b\n'.repeat(2_000_000)],
    ['ten thousand brackets', 'TOO_DEEP', '['.repeat(10_000)],
    ['ten thousand brackets on lines of their own', 'TOO_DEEP', '[\n'.repeat(10_000)],
    ['ten thousand dashes', 'TOO_DEEP', `${'- '.repeat(10_000)}x`],
    ['ten thousand explicit keys', 'TOO_DEEP', '? '.repeat(10_000)],
    ['a thousand levels of indentation', 'TOO_DEEP', lines(1000, (i) => `${' '.repeat(i)}a:`)],
    ['a billion laughs', 'EXPANSION', `a0: &a0 [x]\n${lines(30, (i) => `a${i + 1}: &a${i + 1} [${nine(`*a${i}`)}]`)}`],
    [
      'a billion merges',
      'EXPANSION',
      `a0: &a0 {k: v}\n${lines(30, (i) => `a${i + 1}: &a${i + 1} {<<: [${nine(`*a${i}`)}], k${i}: 1}`)}`,
    ],
    [
      'a long chain of merges',
      'EXPANSION',
      `a0: &a0 {k: v}\n${lines(3000, (i) => `a${i + 1}: &a${i + 1} {<<: *a${i}, k${i}: 1}`)}`,
    ],
    ['a long text repeated', 'EXPANSION', `a: &a ${'x'.repeat(500_000)}\nb: [${'*a, '.repeat(100)}]`],
    ['a long chain of aliases', 'TOO_DEEP', `a0: &a0 [x]\n${lines(5000, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`)}`],
    ['a chain of aliases under one key', 'TOO_DEEP', `a: &a0 [x]\n${lines(5000, (i) => `a: &a${i + 1} [*a${i}]`)}`],
    ['an endless integer', 'VALUE', `a: ${'9'.repeat(1_000_000)}`],
    ['an endless sum of minutes', 'VALUE', `a: 1${':00'.repeat(300_000)}`],
    ['a tag of a megabyte', 'TAG', `a: !${'x'.repeat(1_000_000)}`],
  ];
  for (const [name, code, text] of cases) {
    test(name, () => {
      const result = readYaml('cluster.yaml', text);
      assert.ok('problems' in result);
      assert.equal(result.problems[0]?.code, `MANTA_SPEC_YAML_${code}`);
      assert.ok((result.problems[0]?.message.length ?? 0) <= 201);
    });
  }
});

describe('big files of every kind are read in one go', () => {
  const fill = (piece: string): string => piece.repeat(Math.floor(1_000_000 / piece.length));
  for (const piece of ['\n', ' ', '# c\n', '- 😀\n', '?\n', '\u2028', '\uFEFF']) {
    test(`a megabyte of ${JSON.stringify(piece)}`, () => assert.ok('source' in readYaml('cluster.yaml', fill(piece))));
  }
  test('a block scalar of blank lines', () =>
    assert.ok('source' in readYaml('cluster.yaml', `a: |\n  x\n${fill('\n')}  y`)));
  test('a line of flow items', () => assert.ok('source' in readYaml('cluster.yaml', `[${fill('😀,')}]`)));
});
