import { ownValue } from '../../base/own-value.ts';
import { nearest } from '../../core/spec/keys/nearest.ts';
import type { Command, Option } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { type GivenGlobal, globalOptions } from '../global-options.ts';
import type { OptionValue } from '../option-values.ts';
import { typed } from '../tree.ts';
import { typedValue } from './option-value.ts';

export interface Read {
  readonly args: readonly string[];
  /** By the names of the options that were given. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** What followed `--`, where the command passes it through. */
  readonly rest: readonly string[];
  readonly globals: readonly GivenGlobal[];
  /** As the user wrote each option, for messages. */
  readonly shown: ReadonlyMap<string, string>;
  /** How many of the arguments stood before `--`. */
  readonly beforeDashes: number;
}

/** Reads the words behind a command's name as its options and arguments. */
export function readWords(words: readonly string[], command: Command): Read {
  const args: string[] = [];
  const globals: GivenGlobal[] = [];
  const values = new Map<string, OptionValue>();
  const shownAs = new Map<string, string>();
  const required = command.args.filter((argument) => argument.required === true).length;
  let rest: readonly string[] = [];
  let beforeDashes: number | undefined;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') {
      beforeDashes = args.length;
      if (command.passThrough === true) rest = words.slice(index + 1);
      else args.push(...words.slice(index + 1));
      break;
    }
    const passing = command.passUnknown === true;
    const known = [...command.options, ...(passing && args.length >= required ? heardWhilePassing : globalOptions)];
    if (!word.startsWith('-') || word === '-' || (passing && !namesOption(word, known))) {
      args.push(word);
      continue;
    }
    for (const part of optionParts(word, { known, command, passing, typed: args.length })) {
      if ('word' in part) {
        args.push(part.word);
        continue;
      }
      const { option, shown } = part;
      const own = command.options.includes(option);
      shownAs.set(option.name, shown);
      if (option.value === undefined) {
        if (part.value !== undefined)
          throw cliErrors.UnexpectedValue({ command: typed(command.path), option: shown, value: part.value });
        if (own) values.set(option.name, !part.off);
        else globals.push({ option });
        continue;
      }
      const text = part.value ?? valueAfter(words[index + 1], option, known);
      if (text === undefined)
        throw cliErrors.MissingValue({ command: typed(command.path), option: shown, value: option.value });
      if (part.value === undefined) index++;
      if (own) setValue(values, option, typedValue(text, option, shown, command));
      else globals.push({ option, value: text });
    }
  }
  return {
    args,
    values,
    rest,
    globals,
    shown: shownAs,
    beforeDashes: beforeDashes ?? args.length,
  };
}

/** Ray hears these among the words for a script; its help has no short form. */
const heardWhilePassing: readonly Option[] = globalOptions.flatMap(({ short, ...option }) =>
  option.name === 'verbose'
    ? [{ ...option, ...(short !== undefined && { short }) }]
    : option.name === 'help'
      ? [option]
      : [],
);

type OptionPart =
  | {
      readonly option: Option;
      /** As the user wrote it, for messages. */
      readonly shown: string;
      readonly value: string | undefined;
      /** The switch that says the opposite was given. */
      readonly off: boolean;
    }
  /** Letters that are no options, for the program that the words are for. */
  | { readonly word: string };

interface Reading {
  readonly known: readonly Option[];
  readonly command: Command;
  readonly passing: boolean;
  /** Arguments before this word. */
  readonly typed: number;
}

/** `--name`, `--name=value`, `-n`, `-nvalue`, `-abc`. */
function optionParts(word: string, reading: Reading): OptionPart[] {
  const { known, passing } = reading;
  if (word.startsWith('--')) {
    const [shown, value] = cutAtEquals(word);
    const found = longOption(shown.slice(2), known, passing);
    if (found === undefined) throw unknownOption(shown, reading);
    return [{ ...found, shown, value }];
  }
  const parts: OptionPart[] = [];
  let unknown = '';
  for (let at = 1; at < word.length; at++) {
    const shown = `-${word[at]}`;
    const option = known.find((each) => each.short === word[at]);
    if (option === undefined) {
      if (!passing) throw unknownOption(at === 1 ? word : shown, reading);
      unknown += word[at];
      continue;
    }
    const joined = word.slice(at + 1).replace(/^=/, '');
    if (option.value !== undefined) {
      parts.push({ option, shown, value: joined === '' ? undefined : joined, off: false });
      break;
    }
    parts.push({ option, shown, value: undefined, off: false });
  }
  return unknown === '' ? parts : [...parts, { word: `-${unknown}` }];
}

const cutAtEquals = (word: string): [string, string | undefined] => {
  const equals = word.indexOf('=');
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
};

/** By its name or by that of its opposite; with `_` for `-` too, but not among the words for another program. */
function longOption(
  name: string,
  known: readonly Option[],
  exactly: boolean,
): { option: Option; off: boolean } | undefined {
  for (const spelled of exactly ? [name] : [name, name.replaceAll('_', '-')]) {
    const option = known.find((each) => each.name === spelled || each.off === spelled);
    if (option !== undefined) return { option, off: option.off === spelled };
  }
  return undefined;
}

/** Of a word like `-env` the first letter decides: no program's option is meant by half of it. */
function namesOption(word: string, known: readonly Option[]): boolean {
  if (!word.startsWith('--')) return known.some((each) => each.short === word[1]);
  return longOption(cutAtEquals(word)[0].slice(2), known, true) !== undefined;
}

function unknownOption(option: string, { known, command, typed: count }: Reading): Error {
  const name = option.replace(/^-+/, '');
  const former = command.formerOptions && ownValue(command.formerOptions, name);
  const near = nearest(
    name.replaceAll('_', '-'),
    known.flatMap((each) => [each.name, ...(each.off === undefined ? [] : [each.off])]),
  );
  const own = command.args.length;
  const behind = (command.passThrough === true || command.args.at(-1)?.manyAfterDashes === true) && count >= own;
  return cliErrors.UnknownOption({
    command: typed(command.path),
    option,
    nearest: former ?? (near === undefined ? undefined : `--${near}`),
    ...(behind && former === undefined && near === undefined && { behindDashes: true }),
  });
}

/** The next word, unless it is an option itself; what another program will read may begin with a dash. */
function valueAfter(word: string | undefined, option: Option, known: readonly Option[]): string | undefined {
  if (word === undefined || !word.startsWith('-') || word === '-' || option.dashed === true) return word;
  return word === '--' || namesOption(word, known) ? undefined : word;
}

function setValue(values: Map<string, OptionValue>, option: Option, value: string | number): void {
  const before = values.get(option.name);
  values.set(option.name, option.many === true ? [...(Array.isArray(before) ? before : []), value] : value);
}
