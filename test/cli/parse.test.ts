import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MantaError } from '../../src/base/errors.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands as realCommands } from '../../src/cli/commands.ts';
import { parse } from '../../src/cli/parse/parse.ts';
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

const real = (...words: string[]) => {
  const parsed = parse(words, realCommands);
  return parsed.kind === 'run' ? parsed : assert.fail(`${words.join(' ')}: ${parsed.kind}`);
};

describe('what the command line of ray has', () => {
  test('commands are known in both spellings and by their old names', () => {
    for (const [word, path] of [
      ['rsync_up', 'rsync-up'],
      ['get_head_ip', 'get-head-ip'],
      ['create_or_update', 'up'],
      ['create-or-update', 'up'],
      ['teardown', 'down'],
    ] as const)
      assert.deepEqual(real(word, 'c.yaml').command.path, [path]);
    assert.equal(real('up', '--cluster_name', 'x', 'c.yaml').invocation.options['clusterName'], 'x');
  });

  test('a switch with an opposite is true or false, the last of them winning', () => {
    const shells = (...words: string[]) => real('up', 'c.yaml', ...words).invocation.options['useLoginShells'];
    assert.equal(shells(), true);
    assert.equal(shells('--use-login-shells'), true);
    assert.equal(shells('--use-login-shells', '--use-normal-shells'), false);
  });

  test('words for a script are left to it, but for options of the command and for help', () => {
    const { invocation, globals } = real(
      'submit',
      'c.yaml',
      '--tmux',
      's.py',
      '--lr',
      '-5',
      '-q',
      '--json',
      '-env',
      '-v',
    );
    assert.deepEqual(invocation.args, ['c.yaml', 's.py', '--lr', '-5', '-q', '--json', '-env']);
    assert.equal(invocation.options['tmux'], true);
    assert.deepEqual([globals.verbose, globals.json, globals.quiet], [true, false, false]);
    assert.deepEqual(real('submit', 'c.yaml', 's.py', '--', '--tmux', '-v').invocation.args.slice(2), ['--tmux', '-v']);
    assert.equal(parse(['submit', 'c.yaml', 's.py', '--help'], realCommands).kind, 'help');
    assert.equal(real('--json', 'submit', 'c.yaml', 's.py').globals.json, true);
  });

  test('text for another program may begin with a dash', () => {
    const { options } = real('submit', 'c.yaml', 's.py', '--args', '--n 4 -v').invocation;
    assert.equal(options['args'], '--n 4 -v');
  });

  test('a command of several words stands behind --, and is one word elsewhere', () => {
    assert.deepEqual(real('exec', 'c.yaml', '--', 'ls', '-la').invocation.args, ['c.yaml', 'ls', '-la']);
    assert.deepEqual(real('exec', 'c.yaml', 'ls -la').invocation.args, ['c.yaml', 'ls -la']);
    assert.throws(() => real('exec', 'c.yaml', 'ls', 'here'), { code: 'MANTA_CLI_SEVERAL_WORDS' });
    assert.throws(() => real('exec', 'c.yaml', 'ls', '-z'), { code: 'MANTA_CLI_UNKNOWN_OPTION', hint: /after --/ });
  });

  test('options without effect are taken, and told with their reason', () => {
    const { ignored } = real('--logging-level', 'debug', 'up', 'c.yaml', '--no-config-cache', '--log-style', 'auto');
    assert.deepEqual(
      ignored.map(({ option }) => option),
      ['--logging-level', '--no-config-cache'],
    );
    assert.equal(real('up', 'c.yaml', '--log-color', 'FALSE').globals.color, false);
  });

  test('options that exclude or need each other are held to it', () => {
    assert.throws(() => real('up', 'c', '--no-restart', '--restart-only'), { code: 'MANTA_CLI_EXCLUDED_OPTIONS' });
    assert.throws(() => real('exec', 'c', 'x', '--tmux', '--screen'), { code: 'MANTA_CLI_EXCLUDED_OPTIONS' });
    assert.throws(() => real('attach', 'c', '--new'), { code: 'MANTA_CLI_OPTION_NEEDED' });
    assert.throws(() => real('exec', 'c', 'x', '--docker'), { hint: "did you mean '--run-env docker'?" });
  });

  test('a command that belongs to Ray says so, and how to run it on the head', () => {
    assert.throws(() => real('memory', '--units', 'MB'), {
      code: 'MANTA_CLI_BELONGS_TO_RAY',
      exit: 2,
      hint: "run it on the head: manta exec CLUSTER 'ray memory --units MB'",
    });
    assert.throws(() => real('logs', 'actor', '--id', 'x'), { code: 'MANTA_CLI_BELONGS_TO_RAY' });
    assert.deepEqual(real('logs', 'head').command.path, ['logs']);
    assert.throws(() => real('memry'), { code: 'MANTA_CLI_UNKNOWN_COMMAND', hint: /'memory'/ });
  });

  test('the word for a cluster is found wherever it stands', () => {
    assert.equal(real('status', '-v', 'c.yaml').invocation.cluster, 'c.yaml');
    assert.equal(real('submit', '--start', 'c.yaml', 's.py').invocation.cluster, 'c.yaml');
    assert.equal(real('status').invocation.cluster, undefined);
  });

  test('a cluster may be left out before the node that is meant', () => {
    for (const path of [['ssh'], ['logs'], ['host-key', 'accept']]) {
      const [alone, both] = [real(...path, '10.0.0.7').invocation, real(...path, 'team', '10.0.0.7').invocation];
      assert.deepEqual([alone.cluster, alone.args.at(-1)], [undefined, '10.0.0.7']);
      assert.deepEqual([both.cluster, both.args.at(-1)], ['team', '10.0.0.7']);
      assert.throws(() => real(...path), { code: 'MANTA_CLI_MISSING_ARGUMENT', message: /NODE/ });
      assert.throws(() => real(...path, 'team', 'head', 'more'), { code: 'MANTA_CLI_EXTRA_ARGUMENT' });
    }
    assert.deepEqual(real('ssh', 'team', 'head', '--', 'ls', '-la').invocation.rest, ['ls', '-la']);
  });
});

describe('what is not understood is named, with the likely meaning', () => {
  const cases: readonly [words: string[], code: string, message: RegExp, hint: RegExp | undefined][] = [
    [['confg'], 'UNKNOWN_COMMAND', /'confg'/, /did you mean 'config'\?/],
    [['config', 'chekc'], 'UNKNOWN_COMMAND', /'chekc' for 'manta config'/, /'check'/],
    [['zzzzzz'], 'UNKNOWN_COMMAND', /'zzzzzz'/, /manta --help/],
    [['config'], 'MISSING_COMMAND', /'manta config' needs a command: check/, /--help/],
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
    [['simulate', 'a', 'b'], 'EXTRA_ARGUMENT', /unexpected argument 'b'/, /usage/],
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
