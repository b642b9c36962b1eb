import { ownValue } from '../base/own-value.ts';
import type { Command, Option } from './command.ts';
import { globalOptions } from './global-options.ts';
import type { Groups } from './help.ts';
import { commandAt, nextWords } from './tree.ts';

export interface Candidate {
  readonly value: string;
  readonly summary: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** What the shell adds of its own. */
  readonly paths: 'file' | 'directory' | 'none';
}

const nothing: Completion = { candidates: [], paths: 'none' };

/**
 * What may stand at the cursor. `words` are those after `manta`; the last is the one being typed, maybe empty.
 * `clusters` gives the names that are known here.
 */
export function complete(
  words: readonly string[],
  commands: readonly Command[],
  groups: Groups,
  clusters: () => readonly string[] = () => [],
): Completion {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (before.includes('--')) return { candidates: [], paths: 'file' };
  const { path, args, open } = readBefore(before, commands);
  const command = commandAt(path, commands);
  const options = [...(command?.options ?? []), ...globalOptions];

  if (open !== undefined) return valuesOf(open, current, '', clusters);
  const equals = current.indexOf('=');
  if (current.startsWith('--') && equals > 0) {
    const option = options.find((each) => `--${each.name}` === current.slice(0, equals));
    return option === undefined
      ? nothing
      : valuesOf(option, current.slice(equals + 1), current.slice(0, equals + 1), clusters);
  }
  if (current.startsWith('-')) return { candidates: optionNames(options, current), paths: 'none' };
  if (command === undefined) return { candidates: commandWords(path, current, commands, groups), paths: 'none' };
  if (command.path[0] === 'help') return { candidates: commandWords(args, current, commands, groups), paths: 'none' };

  const argument = command.args[args.length] ?? (command.args.at(-1)?.many === true ? command.args.at(-1) : undefined);
  if (argument?.complete === undefined) return nothing;
  if (argument.complete === 'cluster')
    return { candidates: starting(clusters(), current, 'a known cluster'), paths: 'file' };
  if (typeof argument.complete === 'string') return { candidates: [], paths: argument.complete };
  return { candidates: starting(argument.complete, current, argument.summary), paths: 'none' };
}

interface Before {
  readonly path: readonly string[];
  readonly args: readonly string[];
  /** An option whose value is being typed. */
  readonly open: Option | undefined;
}

/** Reads what was typed already, forgiving what it does not know. */
function readBefore(words: readonly string[], commands: readonly Command[]): Before {
  const path: string[] = [];
  const args: string[] = [];
  let open: Option | undefined;
  for (const word of words) {
    const command = commandAt(path, commands);
    if (open !== undefined) open = undefined;
    else if (word.startsWith('-') && word !== '-') {
      const option = command?.options.find((each) => `--${each.name}` === word || `-${each.short}` === word);
      if (option?.value !== undefined) open = option;
    } else if (command === undefined) path.push(word);
    else args.push(word);
  }
  return { path, args, open };
}

function valuesOf(option: Option, current: string, prefix: string, clusters: () => readonly string[]): Completion {
  const isName = option.complete === 'cluster-name';
  const candidates = starting(isName ? clusters() : (option.choices ?? []), current, option.summary);
  return {
    candidates: candidates.map((each) => ({ ...each, value: `${prefix}${each.value}` })),
    paths: option.complete === undefined || option.complete === 'cluster-name' ? 'none' : option.complete,
  };
}

const starting = (values: readonly string[], current: string, summary: string): Candidate[] =>
  values.filter((value) => value.startsWith(current)).map((value) => ({ value, summary }));

const optionNames = (options: readonly Option[], current: string): Candidate[] =>
  options
    .flatMap(({ name, off, summary }) =>
      [name, ...(off === undefined ? [] : [off])].map((each) => ({ value: `--${each}`, summary })),
    )
    .filter(({ value }) => value.startsWith(current));

const commandWords = (
  path: readonly string[],
  current: string,
  commands: readonly Command[],
  groups: Groups,
): Candidate[] =>
  nextWords(path, commands, false)
    .filter((word) => word.startsWith(current))
    .map((value) => {
      const below = [...path, value];
      return { value, summary: commandAt(below, commands)?.summary ?? ownValue(groups, below.join(' ')) ?? '' };
    });
