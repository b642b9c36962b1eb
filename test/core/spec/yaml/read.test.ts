import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Plain } from '../../../../src/core/spec/cluster.ts';
import type { Problem } from '../../../../src/core/spec/problem.ts';
import type { Source } from '../../../../src/core/spec/source.ts';
import { readYaml, readYamlBytes } from '../../../../src/core/spec/yaml/read.ts';

function read(text: string): Source {
  const result = readYaml('cluster.yaml', text);
  assert.ok('source' in result, 'problems' in result ? result.problems[0]?.message : undefined);
  return result.source;
}

const valueOf = (text: string): Plain => read(text).value;

function refusal(text: string): Problem {
  const result = readYaml('cluster.yaml', text);
  assert.ok('problems' in result, `accepted: ${JSON.stringify(text)}`);
  assert.equal(result.problems.length, 1);
  return result.problems[0] as Problem;
}

describe('plain scalars mean what they mean in YAML 1.1', () => {
  const cases: [text: string, value: Plain][] = [
    ...(
      ['y', 'n', 'Y', 'N', '1e3', '12e03', '08', '0o17', '-.5', '1e+5', '0:30', '_1', 'nan', 'inf', 'tRuE'] as const
    ).map((text): [string, Plain] => [text, text]),
    ...(['yes', 'Yes', 'YES', 'on', 'On', 'true', 'True', 'TRUE'] as const).map((text): [string, Plain] => [
      text,
      true,
    ]),
    ...(['no', 'off', 'OFF', 'false'] as const).map((text): [string, Plain] => [text, false]),
    ...(['', '~', 'null', 'Null', 'NULL'] as const).map((text): [string, Plain] => [text, null]),
    ['0', 0],
    ['-0', 0],
    ['017', 15],
    ['0x1F', 31],
    ['-0b11', -3],
    ['1_000', 1000],
    ['1:30', 90],
    ['-1:30:15', -5415],
    ['1:30.5', 90.5],
    ['1.', 1],
    ['.5', 0.5],
    ['1.5e+3', 1500],
    ['.inf', Number.POSITIVE_INFINITY],
    ['-.INF', Number.NEGATIVE_INFINITY],
    ['.NaN', Number.NaN],
    ['9007199254740993', 9007199254740993n],
    ['0xffffffffffffffffff', 0xffffffffffffffffffn],
  ];
  for (const [text, value] of cases) {
    test(text === '' ? '(nothing)' : text, () => assert.deepEqual(valueOf(`key: ${text}`), { key: value }));
  }

  test('dates are dates, shown as Python shows them', () => {
    const value = valueOf('[2001-02-03, 2001-2-3 4:05:06.7 -1:30, 2001-02-03T04:05:06Z]') as readonly Date[];
    assert.deepEqual(value.map(String), [
      '2001-02-03',
      '2001-02-03 04:05:06.700000-01:30',
      '2001-02-03 04:05:06+00:00',
    ]);
    assert.equal(value[1]?.toISOString(), '2001-02-03T05:35:06.700Z');
    assert.equal(JSON.stringify(value[0]), '"2001-02-03"');
  });

  test('tags decide over the text', () => {
    assert.deepEqual(valueOf('[!!str 1, !!int "2", !!float 3, !!bool "yes", !!null x, ! "4"]'), [
      '1',
      2,
      3,
      true,
      null,
      4,
    ]);
  });
});

describe('collections', () => {
  test('the last of equal keys wins', () => assert.deepEqual(valueOf('a: 1\nb: 2\na: 3\n'), { a: 3, b: 2 }));

  test('keys that are not text are named as in JSON', () => {
    assert.deepEqual(valueOf('8080: a\nyes: b\n~: c\n2.0: d\n'), { 8080: 'a', true: 'b', null: 'c', '2.0': 'd' });
  });

  test('keys that are equal in Python are one key, named as the first', () => {
    assert.deepEqual(valueOf('yes: a\n1: b\n1.0: c\n'), { true: 'c' });
  });

  test('a key may be called __proto__', () => {
    const value = valueOf('__proto__: {polluted: yes}\n') as object;
    assert.deepEqual(Object.keys(value), ['__proto__']);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test('merges bring in keys that are not there, the first of a list winning', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 0}\n';
    assert.deepEqual((valueOf(text) as { c: Plain }).c, { x: 0, y: 1, z: 2 });
  });

  test('an alias is the same value again', () => assert.deepEqual(valueOf('a: &x [1]\nb: *x\n'), { a: [1], b: [1] }));

  test('lists may stand on the column of their key', () =>
    assert.deepEqual(valueOf('a:\n- 1\n- 2\nb: 3\n'), { a: [1, 2], b: 3 }));

  test('a mapping may hold only comments', () => assert.deepEqual(valueOf('a: {\n# nothing\n}\n'), { a: {} }));

  test('line ends, byte order mark and missing last line end change nothing', () => {
    const expected = { a: 'b c', d: 'e\nf\n' };
    const text = 'a: b\n  c\nd: |\n  e\n  f\n';
    for (const variant of [text, text.replaceAll('\n', '\r\n'), `\uFEFF${text}`])
      assert.deepEqual(valueOf(variant), expected);
    assert.deepEqual(valueOf('a: b'), { a: 'b' });
  });

  test('an empty file is null', () => {
    for (const text of ['', '\n', '# only a comment\n', '---\n']) assert.equal(valueOf(text), null);
  });
});

describe('a refusal says what, where and what to do', () => {
  const cases: [name: string, text: string, code: string, at: string][] = [
    ['a tab for indentation', 'a:\n\tb: 1\n', 'TAB', '2:1'],
    ['a command with a colon', 'a:\n  - echo "x": y: z\n', 'SYNTAX', '2:16'],
    ['a key without its colon', 'a: 1\nb\nc: 2\n', 'SYNTAX', '2:1'],
    ['an open bracket', 'a: [1, 2\nb: 3\n', 'SYNTAX', '2:2'],
    ['an open quote', 'a: "b\n', 'SYNTAX', '1:4'],
    ['wrong indentation', 'a:\n    b: 1\n  c: 2\n', 'SYNTAX', '3:3'],
    ['an unknown escape', 'a: "\\d"\n', 'SYNTAX', '1:5'],
    ['a value that starts with @', 'a: @b\n', 'SYNTAX', '1:4'],
    ['an alias without anchor', 'a: *b\n', 'ALIAS', '1:4'],
    ['an anchor twice', 'a: &x 1\nb: &x 2\n', 'ANCHOR', '2:4'],
    ['a foreign tag', 'a: !Ref b\n', 'TAG', '1:4'],
    ['binary data', 'a: !!binary aGk=\n', 'TAG', '1:4'],
    ['a template', 'a: {{ name }}\n', 'KEY', '1:5'],
    ['a date that is none', 'a: 2024-02-30\n', 'VALUE', '1:4'],
    ['a merge of text', 'a: {<<: b}\n', 'MERGE', '1:9'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'DOCUMENTS', '2:1'],
    ['a control character', 'a: \x07\n', 'CHARACTER', '1:4'],
    ['a value inside itself', 'a: &x [1, *x]\n', 'RECURSIVE', '1:11'],
  ];
  for (const [name, text, code, at] of cases) {
    test(name, () => {
      const problem = refusal(text);
      assert.equal(problem.code, `MANTA_SPEC_YAML_${code}`);
      assert.equal(`${problem.at.line}:${problem.at.column}`, at);
      assert.ok(problem.hint);
    });
  }

  test('the next step fits the slip', () => {
    assert.match(refusal('a: b\n    c: d\n').message, /continues the value above/);
    assert.match(refusal('a: b: c\n').message, /second ':'/);
    assert.match(refusal('a:\n  {% if x %}\n').hint ?? '', /template/);
    assert.match(refusal('a: [1 2,\n "b" "c"]\n').hint ?? '', /missing ','/);
  });

  test('bytes that are not UTF-8', () => {
    const result = readYamlBytes('cluster.yaml', Uint8Array.from([0x61, 0x3a, 0x20, 0xff]));
    assert.ok('problems' in result);
    assert.equal(result.problems[0]?.code, 'MANTA_SPEC_YAML_ENCODING');
  });
});
