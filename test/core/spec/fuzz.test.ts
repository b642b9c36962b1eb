import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertCluster } from '../../../src/core/spec/legacy/convert.ts';
import { prepareAsRay } from '../../../src/core/spec/ray/prepare.ts';
import { providers } from '../../../src/providers/table.ts';
import { fc } from '../../property.ts';
import { aws, corpus, open } from './cluster-text.ts';
import { validateAsRay } from './ray/validate.ts';

const grown = aws(`min_workers: 1
max_workers: 4
head_node: {InstanceType: m5.large}
worker_nodes:
  InstanceType: m5.large
  BlockDeviceMappings: [{DeviceName: /dev/sda1, Ebs: {VolumeSize: 50}}]
setup_commands: [pip install ray, "echo \${env:NAME} {{ x }}"]
docker: {image: a, container_name: b, run_options: []}
file_mounts: {/a: b}
`);

/** Whatever a text is, it gets a verdict: a spec or an error, positions inside of the text, words that are words. */
function judge(text: string): void {
  const file = open(text);
  assert.ok(file.spec !== undefined || file.problems.some((problem) => problem.severity === 'error'));
  const lines = text.split(/\r\n|\n|\r/).length;
  for (const { at, message, hint } of file.problems) {
    assert.ok(at.line >= 1 && at.line <= lines && at.column >= 1);
    assert.doesNotMatch(`${message} ${hint ?? ''}`, /\bundefined\b|\[object |function /);
  }
  if (file.spec !== undefined) {
    assert.ok(file.spec.nodeTypes.every((type) => type.offers.length > 0 && type.minWorkers <= type.maxWorkers));
    assert.ok(file.spec.nodeTypes.some((type) => type.name === file.spec?.headType));
  }
  if (file.source !== undefined) convertCluster(file.source, {}, providers);
}

const pieces = [
  '\n',
  ' ',
  '  ',
  ':',
  ': ',
  '- ',
  '#',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '&a ',
  '*a',
  '<<: *a',
  'null',
  '~',
  '[]',
  '{}',
  '-1',
  '1e3',
  '.nan',
  '.inf',
  'yes',
  '2020-01-01',
  '!!str ',
  '|',
  '>-',
  '\t',
  '\r\n',
  '${env:X}',
  '{{ x }}',
  '$X',
  '__proto__',
  'constructor',
  ...providers.keys.map((key) => `${key.path.slice(key.path.lastIndexOf('.') + 1)}: `),
];

test('mutated files get a verdict, and never a crash', () => {
  const seeds = [grown, ...(corpus() ?? []).map((file) => file.bytes.toString()).filter((text) => text.length < 8_000)];
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.integer({ min: 0, max: 40 }),
    put: fc.constantFrom(...pieces),
  });
  fc.assert(
    fc.property(
      fc.nat({ max: seeds.length - 1 }),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      (seed, changes) => {
        let text = seeds[seed] as string;
        for (const { at, cut, put } of changes) {
          const offset = Math.floor(at * text.length);
          text = text.slice(0, offset) + put + text.slice(offset + cut);
        }
        judge(text);
      },
    ),
    { numRuns: 1_500 },
  );
});

test('files of known keys with any values get a verdict, and never a crash', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.string(), names), tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(
      fc.constantFrom('aws', 'gcp', 'azure', 'local', 'external', 'kubernetes'),
      fc.dictionary(names, value, { maxKeys: 8 }),
      (type, file) => {
        judge(
          JSON.stringify({ ...file, provider: { type, ...(typeof file.provider === 'object' ? file.provider : {}) } }),
        );
      },
    ),
    { numRuns: 1_500 },
  );
});

/** Values that Ray takes without a look and nobody can mean, or that its cloud does not take. */
const deliberate = /_OUT_OF_RANGE$|_PLACEHOLDER$|_PROVIDER_REMOVED$|_(?:AWS|GCP)_\w*MEMBER/;

test('a mutated file that Ray accepts is refused only for what nobody can mean', () => {
  const seeds = (corpus() ?? [])
    .filter((file) => file.ray === 'ACCEPT' && !file.name.startsWith('local__'))
    .map((file) => file.bytes.toString());
  seeds.push(aws('max_workers: 4\nauth:\n  ssh_user: me\ndocker: {}\nsetup_commands:\n  - a\n'));
  const value = fc.constantFrom('null', '[]', '{}', '-1', '0', '1.5', "''", 'true', 'x', "'5'", '[a]', '{a: 1}');
  const change = fc.record({ line: fc.nat(), how: fc.constantFrom('value', 'drop', 'add'), value, name: names });
  fc.assert(
    fc.property(
      fc.nat({ max: seeds.length - 1 }),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (seed, changes) => {
        const lines = (seeds[seed] as string).split('\n');
        for (const { line, how, value, name } of changes) {
          const at = line % lines.length;
          const text = lines[at] ?? '';
          const indent = /^\s*/.exec(text)?.[0] ?? '';
          if (how === 'drop') lines.splice(at, 1);
          else if (how === 'add') lines.splice(at, 0, `${indent}${name}: ${value}`);
          else lines[at] = text.replace(/^(\s*[\w.]+:)\s.*$/, `$1 ${value}`);
        }
        const file = open(lines.join('\n'));
        if (file.source === undefined) return;
        const prepared = prepareAsRay(file.source, providers);
        if ('problems' in prepared || validateAsRay(prepared.config, file.source).length > 0) return;
        const errors = file.problems.filter(
          ({ severity, code, path }) => severity === 'error' && !deliberate.test(code) && !isUnchecked(path),
        );
        assert.deepEqual(
          errors.map(({ message }) => message),
          [],
        );
      },
    ),
    { numRuns: 2_000 },
  );
});

/** Ray drops the first unseen and leaves the second to the provider. */
const isUnchecked = ([first]: readonly (string | number)[]): boolean => first === 'min_workers' || first === 'provider';

const names = fc.constantFrom(...providers.keys.map((key) => key.path.slice(key.path.lastIndexOf('.') + 1)));

test('long texts made to slow a pattern down are judged like any other', () => {
  const long = 200_000;
  const fillers = [
    ' ',
    '{',
    '{{',
    '<',
    'a',
    '#',
    '\\n',
    '${',
    '${env:',
    'ray ',
    'ray-1',
    '-',
    'X',
    '{{ ',
    '% ',
    'git clone ',
  ];
  for (const filler of fillers) {
    const text = filler.repeat(Math.ceil(long / filler.length));
    judge(aws(`auth: {ssh_user: "x${text}"}\nsetup_commands: ["{{${text}"]\nhead_start_ray_commands: ["${text}"]\n`));
    judge(`a: [\n${text.replaceAll('\\n', '\n')}`);
  }
});
