import { nearest } from '../core/spec/keys/nearest.ts';
import type { Command, Invocation, Option } from './command.ts';
import { cliErrors } from './errors.ts';
import type { Globals } from './global-options.ts';
import { globalOptions, globalsOf } from './global-options.ts';
import { usageOf } from './help.ts';
import { nextWords, samePath, typed } from './tree.ts';

export type Parsed =
  | { readonly kind: 'run'; readonly command: Command; readonly invocation: Invocation; readonly globals: Globals }
  /** Help was asked for; `path` may be a command, a group of commands, or empty. */
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly globals: Globals }
  | { readonly kind: 'version'; readonly globals: Globals };

/** Turns the words after `manta` into what to do. Throws an error of `cliErrors` for what it does not understand. */
export function parse(words: readonly string[], commands: readonly Command[]): Parsed {
  const found = findCommand(words, commands);
  const globals = (more: readonly string[] = []): Globals => globalsOf([...found.globals, ...more]);
  if (found.command === undefined) {
    if (found.globals.includes('version')) return { kind: 'version', globals: globals() };
    if (found.path.length > 0 && !found.globals.includes('help')) throw missingCommand(found.path, commands);
    return { kind: 'help', path: found.path, globals: globals() };
  }
  const read = readWords(found.rest, found.command);
  if ([...found.globals, ...read.globals].includes('help'))
    return { kind: 'help', path: found.path, globals: globals(read.globals) };
  checkArguments(read.invocation.args, found.command);
  return { kind: 'run', command: found.command, invocation: read.invocation, globals: globals(read.globals) };
}

interface Found {
  readonly command: Command | undefined;
  readonly path: readonly string[];
  readonly globals: readonly string[];
  readonly rest: readonly string[];
}

/** Follows the words as long as they lead to a command; only global options may stand in between. */
function findCommand(words: readonly string[], commands: readonly Command[]): Found {
  const path: string[] = [];
  const globals: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) {
      globals.push(...globalNames(word, path, commands));
      continue;
    }
    const next = nextWords(path, commands);
    if (!next.includes(word))
      throw cliErrors.UnknownCommand({ word, command: typed(path), nearest: nearest(word, next) });
    path.push(word);
    const command = commands.find((each) => samePath(each.path, path));
    if (command !== undefined) return { command, path, globals, rest: words.slice(index + 1) };
  }
  return { command: undefined, path, globals, rest: [] };
}

function missingCommand(path: readonly string[], commands: readonly Command[]): Error {
  return cliErrors.MissingCommand({ command: typed(path), commands: nextWords(path, commands, false).join(', ') });
}

function globalNames(word: string, path: readonly string[], commands: readonly Command[]): string[] {
  const names = word.startsWith('--') ? [word.slice(2)] : word.slice(1).split('');
  return names.map((name) => {
    const option = globalOptions.find((each) => (word.startsWith('--') ? each.name : each.short) === name);
    if (option !== undefined) return option.name;
    const owner = commands.find((command) => command.options.some((each) => `--${each.name}` === word.split('=')[0]));
    throw owner === undefined
      ? cliErrors.UnknownOption({ command: typed(path), option: word, nearest: nearestOption(word, globalOptions) })
      : cliErrors.UnknownOption({ command: typed(path), option: word, nearest: `${typed(owner.path)} ${word}` });
  });
}

interface Read {
  readonly invocation: Invocation;
  readonly globals: readonly string[];
}

function readWords(words: readonly string[], command: Command): Read {
  const args: string[] = [];
  const globals: string[] = [];
  const values = new Map<string, string | number | boolean | string[]>();
  const known = [...command.options, ...globalOptions];
  let rest: readonly string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') {
      if (command.passThrough === true) rest = words.slice(index + 1);
      else args.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    for (const part of optionParts(word, known, command)) {
      const { option, shown } = part;
      if (option.value === undefined) {
        if (part.value !== undefined)
          throw cliErrors.UnexpectedValue({ command: typed(command.path), option: shown, value: part.value });
        if (command.options.includes(option)) values.set(option.name, true);
        else globals.push(option.name);
        continue;
      }
      const text = part.value ?? valueAfter(words[index + 1], option);
      if (text === undefined)
        throw cliErrors.MissingValue({ command: typed(command.path), option: shown, value: option.value });
      if (part.value === undefined) index++;
      setValue(values, option, typedValue(text, option, shown, command));
    }
  }
  for (const option of command.options)
    if (option.default !== undefined && !values.has(option.name)) values.set(option.name, option.default);
  return { invocation: { args, options: Object.fromEntries(values), rest }, globals };
}

interface OptionPart {
  readonly option: Option;
  /** As the user wrote it, for messages. */
  readonly shown: string;
  readonly value: string | undefined;
}

/** `--name`, `--name=value`, `-n`, `-nvalue`, `-abc`. */
function optionParts(word: string, known: readonly Option[], command: Command): OptionPart[] {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    const shown = equals < 0 ? word : word.slice(0, equals);
    const option = known.find((each) => `--${each.name}` === shown);
    if (option === undefined) throw unknownOption(shown, known, command);
    return [{ option, shown, value: equals < 0 ? undefined : word.slice(equals + 1) }];
  }
  const parts: OptionPart[] = [];
  for (let at = 1; at < word.length; at++) {
    const shown = `-${word[at]}`;
    const option = known.find((each) => each.short === word[at]);
    if (option === undefined) throw unknownOption(at === 1 ? word : shown, known, command);
    const joined = word.slice(at + 1).replace(/^=/, '');
    if (option.value !== undefined) return [...parts, { option, shown, value: joined === '' ? undefined : joined }];
    parts.push({ option, shown, value: undefined });
  }
  return parts;
}

function unknownOption(option: string, known: readonly Option[], command: Command): Error {
  return cliErrors.UnknownOption({ command: typed(command.path), option, nearest: nearestOption(option, known) });
}

/** `-json` and `--jsn` both mean `--json`. */
function nearestOption(word: string, known: readonly Option[]): string | undefined {
  const near = nearest(
    word.replace(/^-+/, '').split('=')[0]!,
    known.map((option) => option.name),
  );
  return near === undefined ? undefined : `--${near}`;
}

/** The next word, unless it is an option itself; negative numbers are values of numeric options. */
function valueAfter(word: string | undefined, option: Option): string | undefined {
  if (word === undefined || !word.startsWith('-') || word === '-') return word;
  return option.type !== undefined && option.type !== 'string' && /^-[\d.]/.test(word) ? word : undefined;
}

function typedValue(text: string, option: Option, shown: string, command: Command): string | number {
  const bad = (expected: string): Error =>
    cliErrors.BadValue({ command: typed(command.path), option: shown, value: text, expected });
  if (option.choices !== undefined && !option.choices.includes(text))
    throw cliErrors.BadChoice({
      command: typed(command.path),
      option: shown,
      value: text,
      choices: option.choices.join(', '),
      nearest: nearest(text, option.choices),
    });
  if (option.type === 'integer') {
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text)) || !isWithin(Number(text), option))
      throw bad(`a whole number${rangeOf(option)}`);
    return Number(text);
  }
  if (option.type === 'number') {
    if (text.trim() === '' || !Number.isFinite(Number(text)) || !isWithin(Number(text), option))
      throw bad(`a number${rangeOf(option)}`);
    return Number(text);
  }
  return text;
}

const isWithin = (value: number, { min, max }: Option): boolean =>
  value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY);

function rangeOf({ min, max }: Option): string {
  if (min === undefined) return max === undefined ? '' : ` of at most ${max}`;
  return max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`;
}

function setValue(
  values: Map<string, string | number | boolean | string[]>,
  option: Option,
  value: string | number,
): void {
  if (option.many !== true) {
    values.set(option.name, value);
    return;
  }
  const before = values.get(option.name);
  values.set(option.name, [...(Array.isArray(before) ? before : []), String(value)]);
}

function checkArguments(args: readonly string[], command: Command): void {
  const usage = usageOf(command);
  const missing = command.args.find((argument, index) => argument.required === true && args.length <= index);
  if (missing !== undefined)
    throw cliErrors.MissingArgument({ command: typed(command.path), argument: missing.name, usage });
  const open = command.args.at(-1)?.many === true;
  const extra = args[command.args.length];
  if (!open && extra !== undefined)
    throw cliErrors.ExtraArgument({ command: typed(command.path), argument: extra, usage });
  for (const [index, argument] of command.args.entries()) {
    const word = args[index];
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
