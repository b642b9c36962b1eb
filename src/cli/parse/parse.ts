import { nearest } from '../../core/spec/keys/nearest.ts';
import type { Command, ParsedInvocation } from '../command.ts';
import { cliErrors } from '../errors.ts';
import type { GivenGlobal, Globals } from '../global-options.ts';
import { globalsOf } from '../global-options.ts';
import { usageOf } from '../help.ts';
import { optionValues } from '../option-values.ts';
import { nextWords, typed } from '../tree.ts';
import { findCommand } from './find-command.ts';
import { type Read, readWords } from './read-words.ts';

export type Parsed =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly invocation: ParsedInvocation;
      readonly globals: Globals;
      /** Options that were given and have no effect here. */
      readonly ignored: readonly Ignored[];
    }
  /** Help was asked for; `path` may be a command, a group of commands, or empty. */
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly globals: Globals }
  | { readonly kind: 'version'; readonly globals: Globals };

export interface Ignored {
  /** As it was typed. */
  readonly option: string;
  readonly why: string;
}

/** Turns the words after `manta` into what to do. Throws an error of `cliErrors` for what it does not understand. */
export function parse(words: readonly string[], commands: readonly Command[]): Parsed {
  const found = findCommand(words, commands);
  const names = found.globals.map(({ option }) => option.name);
  if (found.command === undefined) {
    const globals = globalsOf(names);
    if (names.includes('version')) return { kind: 'version', globals };
    if (found.path.length > 0 && !names.includes('help')) throw missingCommand(found.path, commands);
    return { kind: 'help', path: found.path, globals };
  }
  const { command } = found;
  const read = readWords(found.rest, command);
  const given = [...found.globals, ...read.globals];
  const globals = globalsOf([...given.map(({ option }) => option.name), ...colorWords(read)]);
  if (given.some(({ option }) => option.name === 'help')) return { kind: 'help', path: found.path, globals };
  checkArguments(read, command);
  checkTogether(read, command);
  const place = command.args.findIndex((argument) => argument.name === 'CLUSTER');
  const cluster = place < 0 || leavesOutFirst(read, command) ? undefined : read.args[place];
  return {
    kind: 'run',
    command,
    invocation: {
      args: read.args,
      options: optionValues(command.options, read.values),
      rest: read.rest,
      ...(cluster !== undefined && { cluster }),
    },
    globals,
    ignored: ignoredIn(given, read, command),
  };
}

function missingCommand(path: readonly string[], commands: readonly Command[]): Error {
  return cliErrors.MissingCommand({ command: typed(path), commands: nextWords(path, commands, false).join(', ') });
}

/** Ray's own way to ask for colours. */
function colorWords({ values }: Read): string[] {
  const when = values.get('log-color');
  return when === 'true' ? ['color'] : when === 'false' ? ['no-color'] : [];
}

function ignoredIn(given: readonly GivenGlobal[], read: Read, command: Command): Ignored[] {
  const own = command.options.filter(({ name }) => read.shown.has(name) && read.values.get(name) !== 'auto');
  return [...given.map(({ option }) => option), ...own].flatMap(({ name, ignored }) =>
    ignored === undefined ? [] : [{ option: read.shown.get(name) ?? `--${name}`, why: ignored }],
  );
}

function checkTogether({ values, shown }: Read, command: Command): void {
  const is = (name: string): boolean => shown.has(name) && values.get(name) !== false;
  for (const option of command.options.filter(({ name }) => is(name))) {
    const name = shown.get(option.name)!;
    const other = option.excludes?.find(is);
    if (other !== undefined)
      throw cliErrors.TogetherExcluded({ command: typed(command.path), option: name, other: shown.get(other)! });
    if (option.needs !== undefined && !option.needs.some(is))
      throw cliErrors.OptionNeeded({
        command: typed(command.path),
        option: name,
        needed: option.needs.map((each) => `--${each}`).join(' or '),
      });
  }
}

/** A first argument that may be left out stands before required ones, and the words are enough for those alone. */
function leavesOutFirst({ args }: Read, command: Command): boolean {
  const [first, ...others] = command.args;
  const required = others.filter((argument) => argument.required === true).length;
  return first?.required !== true && required > 0 && args.length <= required;
}

function checkArguments(read: Read, command: Command): void {
  const { args, beforeDashes } = read;
  const usage = usageOf(command);
  const offset = leavesOutFirst(read, command) ? 1 : 0;
  const missing = command.args.find((argument, index) => argument.required === true && args.length + offset <= index);
  if (missing !== undefined)
    throw cliErrors.MissingArgument({ command: typed(command.path), argument: missing.name, usage });
  const last = command.args.at(-1);
  const taken = last?.many === true || (last?.manyAfterDashes === true && beforeDashes <= command.args.length);
  const extra = args[command.args.length];
  if (!taken && extra !== undefined)
    throw last?.manyAfterDashes === true
      ? cliErrors.SeveralWords({ command: typed(command.path), argument: last.name, extra, usage })
      : cliErrors.ExtraArgument({ command: typed(command.path), argument: extra, usage });
  for (const [index, argument] of command.args.entries()) {
    const word = args[index - offset];
    const choices = Array.isArray(argument.complete) ? (argument.complete as readonly string[]) : undefined;
    if (word === undefined || choices === undefined || argument.closed !== true || choices.includes(word)) continue;
    throw cliErrors.BadChoice({
      command: typed(command.path),
      option: argument.name,
      value: word,
      choices: choices.join(', '),
      nearest: nearest(word, choices),
    });
  }
}
