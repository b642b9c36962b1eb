// needs: ray-client

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MantaError } from '../../src/base/errors.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { keyOf, valueIfAbsent } from '../../src/cli/option-values.ts';
import { type Parsed, parse } from '../../src/cli/parse/parse.ts';
import { rayPython } from '../jobs/ray-python.ts';
import { fc } from '../property.ts';
import { type RayReading, readAsRay } from './ray-parser.ts';
import { shellWords } from './shell-words.ts';

const corpus = fileURLToPath(new URL('../../../shared/corpus/cli-usages.tsv', import.meta.url));
const ray = rayPython();

/** How Manta took the words: understood, or refused with this error. */
type Taken = { readonly parsed: Parsed } | { readonly error: MantaError };

function take(words: readonly string[]): Taken {
  try {
    return { parsed: parse(words, commands) };
  } catch (error) {
    assert.ok(error instanceof MantaError && error.exit === 2, `${words.join(' ')}: ${String(error)}`);
    return { error };
  }
}

/** Every way in which a line can be meant as a command: what a shell makes of it, and what remains of one inside prose. */
function readingsOf(line: string): string[][] {
  const ways = [
    shellWords(line),
    shellWords(line, { operators: false }),
    shellWords(line, { operators: false, comments: false }),
    shellWords(line, { forgiving: true }),
    shellWords(line, { operators: false, comments: false, forgiving: true }),
    shellWords(line.split('`')[0] ?? ''),
    line.split(/\s+/),
  ];
  const found = new Map(ways.flatMap((words) => (words === undefined ? [] : [[JSON.stringify(words), words]])));
  return [...found.values()].map((words) => words.slice(1));
}

/** In what Manta's reading differs from Ray's; undefined when it does not. */
function difference(words: readonly string[], reading: RayReading & { kind: 'run' }): string | undefined {
  const taken = take(words);
  if ('error' in taken) {
    const { code, message } = taken.error;
    if (code === 'MANTA_CLI_BELONGS_TO_RAY' && message.startsWith(`'ray ${reading.path[0]}`)) return undefined;
    return `refused: ${message}`;
  }
  const { parsed } = taken;
  if (parsed.kind !== 'run') return `taken as ${parsed.kind}`;
  const { command, invocation, globals } = parsed;
  if (command.path.join(' ') !== reading.path.join(' ')) return `taken as ${command.path.join(' ')}`;
  const args = [...invocation.args, ...invocation.rest];
  const raysArgs = reading.args.flatMap(([, value]) => value);
  if (JSON.stringify(args) !== JSON.stringify(raysArgs))
    return `arguments ${JSON.stringify(args)}, not ${JSON.stringify(raysArgs)}`;
  const all = valuesByName(command, invocation.options);
  const given = command.options.filter((option) => all.get(option.name) !== valueIfAbsent(option));
  const expected = new Map(reading.options.map(([name, value]) => [name.replaceAll('_', '-'), meant(name, value)]));
  if (globals.verbose) all.set('verbose', true);
  const names = new Set([
    ...given.map(({ name }) => name),
    ...(globals.verbose ? ['verbose'] : []),
    ...expected.keys(),
  ]);
  for (const name of names)
    if (JSON.stringify(all.get(name)) !== JSON.stringify(expected.get(name)))
      return `--${name} is ${JSON.stringify(all.get(name))}, not ${JSON.stringify(expected.get(name))}`;
  return undefined;
}

/** The code of a command knows its options by other names than those who type them. */
const valuesByName = (command: Command, values: Readonly<Record<string, unknown>>): Map<string, unknown> =>
  new Map(command.options.map(({ name }) => [name, values[keyOf(name)]]));

/** Ray's value in Manta's terms. */
function meant(name: string, value: unknown): unknown {
  if (name === 'verbose') return true;
  // Ray takes `-n=NAME`, which its own documentation has, for a cluster named `=NAME`.
  if (name === 'cluster_name') return String(value).replace(/^=/, '');
  if (name === 'verify') return String(value);
  return value;
}

/** click's complaint, and the codes that say the same. */
const sameComplaint: Readonly<Record<string, readonly string[]>> = {
  NoSuchOption: ['UNKNOWN_OPTION'],
  NoSuchCommand: ['UNKNOWN_COMMAND'],
  MissingParameter: ['MISSING_ARGUMENT'],
  BadParameter: ['BAD_VALUE', 'BAD_CHOICE', 'MISSING_VALUE'],
  BadOptionUsage: ['MISSING_VALUE', 'UNEXPECTED_VALUE'],
  UsageError: ['EXTRA_ARGUMENT', 'SEVERAL_WORDS', 'MISSING_COMMAND'],
};

describe('real command lines of ray', { skip: absent() }, () => {
  const lines = existsSync(corpus)
    ? readFileSync(corpus, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split('\t')[2] ?? '')
    : [];
  const cases = lines.flatMap((line) => readingsOf(line).map((words) => ({ line, words })));
  const readings =
    'python' in ray && lines.length > 0
      ? readAsRay(
          ray.python,
          cases.map(({ words }) => words),
        )
      : [];
  const each = cases.map((one, index) => ({ ...one, reading: readings[index]! }));

  test('what Ray understands, Manta understands as the same command with the same options', (t) => {
    const understood = each.flatMap((one) => (one.reading?.kind === 'run' ? [{ ...one, reading: one.reading }] : []));
    const wrong = understood.flatMap(({ words, reading }) => {
      const problem = difference(words, reading);
      return problem === undefined ? [] : [`${words.join(' ')}\n    ${problem}`];
    });
    t.diagnostic(`${new Set(understood.map(({ line }) => line)).size} lines, ${understood.length} readings of them`);
    assert.deepEqual(wrong, []);
  });

  test('what Ray does not understand is refused for the same reason, or understood better', (t) => {
    const wrong: string[] = [];
    let better = 0;
    for (const { words, reading } of each) {
      if (reading.kind !== 'refused') continue;
      const taken = take(words);
      if ('parsed' in taken) {
        better++;
        if (!isBetter(words, taken.parsed, reading))
          wrong.push(`${words.join(' ')}\n    taken, and Ray says: ${reading.message}`);
        continue;
      }
      const code = taken.error.code.replace('MANTA_CLI_', '');
      if (code === 'BELONGS_TO_RAY' || (reading.error === 'NoSuchCommand' && isOldSpelling(words))) continue;
      if (!sameComplaint[reading.error]?.includes(code))
        wrong.push(`${words.join(' ')}\n    ${taken.error.message}\n    Ray: ${reading.error} ${reading.message}`);
    }
    t.diagnostic(`${better} readings that Ray refuses are understood`);
    assert.deepEqual(wrong, []);
  });
});

describe('made-up command lines of ray', { skip: 'missing' in ray ? ray.missing : false }, () => {
  test('what Ray understands, Manta understands as the same, unless it keeps the user from a mistake', (t) => {
    if ('missing' in ray) return;
    const shared = commands.filter(({ inRay }) => inRay !== undefined);
    const values = ['c.yaml', 'a b', '7', '-1', 'auto', 'host', 'true', 'PRETTY', '', 'x=y', '{"a": 1}'];
    const line = fc.constantFrom(...shared).chain((command) => {
      const names = command.options.flatMap(({ name, off }) => [name, ...(off === undefined ? [] : [off])]);
      const letters = command.options.flatMap(({ short }) => short ?? []);
      const value = fc.constantFrom(...values);
      const word = fc.oneof(
        { weight: 3, arbitrary: value.map((text) => [text]) },
        { weight: 3, arbitrary: fc.constantFrom(...names).map((name) => [`--${name}`]) },
        { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => [`--${name}`, text]) },
        {
          weight: 1,
          arbitrary: fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => [`--${name}=${text}`]),
        },
        { weight: 1, arbitrary: fc.array(fc.constantFrom('v', ...letters)).map((some) => [`-${some.join('')}`]) },
        { weight: 1, arbitrary: fc.constantFrom('--', '-', '--lr', '-0.5', '-xyz').map((text) => [text]) },
      );
      return fc
        .uniqueArray(word, { maxLength: 6, selector: ([first = '']) => first.replace(/=.*/, '') })
        .map((some) => [...command.path, ...some.flat()]);
    });
    const lines = fc.sample(line, { numRuns: 6_000, seed: 20_260 });
    const understood = readAsRay(ray.python, lines).flatMap((reading, index) =>
      reading.kind === 'run' ? [{ words: lines[index]!, reading }] : [],
    );
    const wrong = understood.flatMap(({ words, reading }) => {
      const problem = difference(words, reading);
      return problem === undefined || isMistake(words, reading) ? [] : [`${JSON.stringify(words)}\n    ${problem}`];
    });
    t.diagnostic(`${understood.length} of ${lines.length} lines are understood by Ray`);
    assert.deepEqual(wrong, []);
  });
});

/**
 * Ray's parser lets these through: an option or `--` as the value of another, ports that are none, and options that its
 * commands refuse later.
 */
function isMistake(words: readonly string[], { path, options }: RayReading & { kind: 'run' }): boolean {
  const taken = take(words);
  if (!('error' in taken)) return false;
  const given = (name: string): boolean => options.some(([each]) => each === name);
  switch (taken.error.code) {
    case 'MANTA_CLI_MISSING_VALUE':
      return words.some((word, index) => word.startsWith('-') && words[index - 1]?.startsWith('-') === true);
    case 'MANTA_CLI_BAD_VALUE':
      return ['port_forward', 'port', 'remote_port'].some(given);
    case 'MANTA_CLI_EXCLUDED_OPTIONS':
      return (given('tmux') && given('screen')) || (given('no_restart') && given('restart_only'));
    case 'MANTA_CLI_OPTION_NEEDED':
      return given(path[0] === 'submit' ? 'extra_screen_args' : 'new');
    default:
      return false;
  }
}

/** Commands that need no file, both spellings, the names of earlier versions, several jobs at once, and `-h`. */
function isBetter(words: readonly string[], parsed: Parsed, reading: RayReading & { kind: 'refused' }): boolean {
  if (reading.error === 'NoSuchCommand') return isOldSpelling(words);
  if (parsed.kind !== 'run') return reading.option === '-h';
  const [first, second] = parsed.command.path;
  switch (reading.error) {
    case 'MissingParameter':
      return parsed.invocation.cluster === undefined;
    case 'NoSuchOption':
      return reading.option?.includes('_') === true;
    default:
      return first === 'status' ? parsed.invocation.cluster !== undefined : first === 'job' && second === 'stop';
  }
}

const isOldSpelling = ([word = '']: readonly string[]): boolean => /_|^create-or-update$|^teardown$/.test(word);

function absent(): string | false {
  if (!existsSync(corpus)) return 'the corpus of command lines is not beside this checkout (../shared/corpus)';
  return 'missing' in ray ? ray.missing : false;
}
