import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MantaError } from '../../src/base/errors.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands as realCommands } from '../../src/cli/commands.ts';
import { parse } from '../../src/cli/parse.ts';
import { fc } from '../property.ts';

const load = () => Promise.reject(new Error('parsing must not load a command'));

const table: readonly Command[] = [
  {
    path: ['config', 'check'],
    summary: 'check',
    args: [{ name: 'FILE', summary: 'a file', required: true, many: true }],
    options: [{ name: 'ray', short: 'r', summary: 'as Ray' }],
    load,
  },
  {
    path: ['simulate'],
    summary: 'simulate',
    args: [{ name: 'FILE', summary: 'a file' }],
    options: [
      { name: 'seed', short: 's', summary: 'seed', value: 'S', type: 'integer', default: 1 },
      { name: 'rate', summary: 'rate', value: 'R', type: 'number' },
      { name: 'faults', summary: 'faults', value: 'PROFILE', choices: ['none', 'mild', 'chaos'] },
      { name: 'label', summary: 'labels', value: 'L', many: true },
    ],
    load,
  },
  {
    path: ['exec'],
    summary: 'run',
    args: [{ name: 'FILE', summary: 'f', required: true }],
    options: [],
    passThrough: true,
    load,
  },
];

const read = (...words: string[]) => {
  const parsed = parse(words, table);
  assert.equal(parsed.kind, 'run');
  return parsed.kind === 'run' ? parsed : assert.fail();
};

const refused = (...words: string[]): MantaError => {
  try {
    parse(words, table);
  } catch (error) {
    assert.ok(error instanceof MantaError, String(error));
    assert.equal(error.exit, 2);
    return error;
  }
  return assert.fail(`${words.join(' ')} was taken`);
};

describe('what is understood', () => {
  test('arguments and switches come in any order', () => {
    const { invocation } = read('config', 'check', 'a.yaml', '--ray', '-', 'b.yaml');
    assert.deepEqual(invocation, { args: ['a.yaml', '-', 'b.yaml'], options: { ray: true }, rest: [] });
  });

  test('values are given after a space, an equals sign or right after the letter, and have their type', () => {
    for (const words of [['--seed', '7'], ['--seed=7'], ['-s', '7'], ['-s7'], ['-s=7']])
      assert.deepEqual(read('simulate', ...words).invocation.options, { seed: 7 });
  });

  test('negative numbers are values of numeric options', () => {
    assert.deepEqual(read('simulate', '--rate', '-0.5').invocation.options, { seed: 1, rate: -0.5 });
  });

  test('a default stands in for an option that was not given, and the last of two wins', () => {
    assert.equal(read('simulate').invocation.options['seed'], 1);
    assert.equal(read('simulate', '--seed', '2', '--seed', '3').invocation.options['seed'], 3);
  });

  test('an option that may be repeated collects its values', () => {
    assert.deepEqual(read('simulate', '--label', 'a', '--label=b').invocation.options['label'], ['a', 'b']);
  });

  test('options of every command stand before or after its name', () => {
    for (const words of [
      ['--json', 'config', 'check', 'f'],
      ['config', '--json', 'check', 'f'],
      ['config', 'check', 'f', '--json'],
    ])
      assert.equal(read(...words).globals.json, true);
    assert.equal(read('simulate', '-vq').globals.quiet, true);
    assert.equal(read('simulate', '--color', '--no-color').globals.color, false);
  });

  test('after -- nothing is an option; a command that passes words through gets them as they are', () => {
    assert.deepEqual(read('config', 'check', '--', '--ray').invocation.args, ['--ray']);
    assert.deepEqual(read('exec', 'f', '--', 'ls', '-l', '--').invocation.rest, ['ls', '-l', '--']);
  });

  test('help is given wherever it is asked for, even when arguments are missing', () => {
    for (const [words, path] of [
      [[], []],
      [['--help'], []],
      [['config', '--help'], ['config']],
      [
        ['config', 'check', '-h'],
        ['config', 'check'],
      ],
    ] as const)
      assert.deepEqual(parse(words, table), { ...parse(words, table), kind: 'help', path });
  });
});

describe('what is not understood is named, with the likely meaning', () => {
  const cases: readonly [words: string[], code: string, message: RegExp, hint: RegExp | undefined][] = [
    [['confg'], 'UNKNOWN_COMMAND', /'confg'/, /did you mean 'config'\?/],
    [['config', 'chekc'], 'UNKNOWN_COMMAND', /'chekc' after 'manta config'/, /'check'/],
    [['zzzzzz'], 'UNKNOWN_COMMAND', /'zzzzzz'/, /manta --help/],
    [['config'], 'MISSING_COMMAND', /'manta config' needs one of its commands: check/, /--help/],
    [['simulate', '--sed', '1'], 'UNKNOWN_OPTION', /no option '--sed'/, /'--seed'/],
    [['simulate', '-json'], 'UNKNOWN_OPTION', /-json/, /'--json'/],
    [['--seed', '3', 'simulate'], 'UNKNOWN_OPTION', /--seed/, /manta simulate --seed/],
    [['simulate', '--seed'], 'MISSING_VALUE', /needs a value: --seed S/, /--seed=VALUE/],
    [['simulate', '--seed', '--json'], 'MISSING_VALUE', /needs a value/, /dash/],
    [['config', 'check', '--ray=1', 'f'], 'UNEXPECTED_VALUE', /takes no value, but got '1'/, undefined],
    [['simulate', '--seed', '1.5'], 'BAD_VALUE', /a whole number, not '1.5'/, undefined],
    [['simulate', '--rate', 'fast'], 'BAD_VALUE', /a number, not 'fast'/, undefined],
    [['simulate', '--faults', 'mlid'], 'BAD_CHOICE', /none, mild, chaos, not 'mlid'/, /'mild'/],
    [['config', 'check'], 'MISSING_ARGUMENT', /needs FILE/, /usage: manta config check \[options\] FILE\.\.\./],
    [['simulate', 'a', 'b'], 'EXTRA_ARGUMENT', /does not take the argument 'b'/, /usage/],
  ];
  for (const [words, code, message, hint] of cases) {
    test(`manta ${words.join(' ')}`, () => {
      const error = refused(...words);
      assert.equal(error.code, `MANTA_CLI_${code}`);
      assert.match(error.message, message);
      if (hint === undefined) assert.equal(error.hint, undefined);
      else assert.match(error.hint ?? '', hint);
    });
  }
});

test('any words at all are either understood or refused with a code', () => {
  const words = realCommands.flatMap((command) => [...command.path, ...command.options.map(({ name }) => `--${name}`)]);
  const word = fc.oneof(fc.constantFrom(...words, '--', '-', '--json', '-v', '--=', '='), fc.string());
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (line) => {
      try {
        parse(line, realCommands);
      } catch (error) {
        assert.ok(error instanceof MantaError && error.exit === 2, String(error));
      }
    }),
  );
});
