import { ownValue } from '../base/own-value.ts';
import type { Argument, Command, Option } from './command.ts';
import { globalOptions } from './global-options.ts';
import { commandAt, nextWords, typed } from './tree.ts';

/** What a group of commands is for, by its words. */
export type Groups = Readonly<Record<string, string>>;

/** Help for a command, for a group of commands, or for Manta as a whole. */
export function helpText(
  path: readonly string[],
  commands: readonly Command[],
  groups: Groups,
  columns: number,
): string {
  const width = Math.max(40, Math.min(columns, 100));
  const command = commandAt(path, commands);
  return command === undefined ? groupHelp(path, commands, groups, width) : commandHelp(command, width);
}

export function usageOf(command: Command): string {
  const parts = [typed(command.path)];
  if (command.options.length > 0) parts.push('[options]');
  parts.push(...command.args.map(argumentUsage));
  if (command.passThrough === true) parts.push('[-- words...]');
  return parts.join(' ');
}

export function argumentUsage(argument: Argument): string {
  if (argument.manyAfterDashes === true) return `${argument.name} | -- ${argument.name}...`;
  const name = argument.many === true ? `${argument.name}...` : argument.name;
  return argument.required === true ? name : `[${name}]`;
}

/** `-s, --seed S`. */
export function optionUsage(option: Option): string {
  const value = option.value === undefined ? '' : ` ${option.value}`;
  const opposite = option.off === undefined ? '' : `, --${option.off}`;
  return `${option.short === undefined ? '' : `-${option.short}, `}--${option.name}${value}${opposite}`;
}

/** The summary with what the value may be. */
export function optionSummary(option: Option): string {
  const notes = [
    ...(option.choices === undefined ? [] : [`one of ${option.choices.join(', ')}`]),
    ...(option.default === undefined ? [] : [`default ${option.default}`]),
    ...(option.many === true ? ['may be repeated'] : []),
  ];
  return notes.length === 0 ? option.summary : `${option.summary} (${notes.join('; ')})`;
}

function commandHelp(command: Command, width: number): string {
  return sections([
    `${typed(command.path)}: ${command.summary}`,
    `Usage: ${usageOf(command)}`,
    command.description === undefined ? '' : fill(command.description, width),
    table(
      'Arguments',
      command.args.map((each) => [argumentUsage(each), each.summary]),
      width,
    ),
    table(
      'Options',
      command.options.map((each) => [optionUsage(each), optionSummary(each)]),
      width,
    ),
    table(
      'Global options',
      globalOptions.map((each) => [optionUsage(each), each.summary]),
      width,
    ),
    command.examples === undefined ? '' : ['Examples:', ...command.examples.map((each) => `  ${each}`)].join('\n'),
  ]);
}

function groupHelp(path: readonly string[], commands: readonly Command[], groups: Groups, width: number): string {
  const rows = nextWords(path, commands, false).map((word): [string, string] => {
    const below = [...path, word];
    const command = commandAt(below, commands);
    const inside = nextWords(below, commands, false);
    return [below.join(' '), command?.summary ?? `${ownValue(groups, below.join(' ')) ?? ''}: ${inside.join(', ')}`];
  });
  const title =
    path.length === 0
      ? 'manta launches, scales and runs Ray clusters'
      : `${typed(path)}: ${ownValue(groups, path.join(' ')) ?? ''}`;
  return sections([
    title,
    `Usage: ${typed(path)} COMMAND [options]`,
    table('Commands', rows, width),
    table(
      'Global options',
      globalOptions.map((each) => [optionUsage(each), each.summary]),
      width,
    ),
    `Run '${typed(path)} COMMAND --help' for more about a command.`,
  ]);
}

const sections = (parts: readonly string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`;

function table(title: string, rows: readonly (readonly [string, string])[], width: number): string {
  if (rows.length === 0) return '';
  const left = Math.min(Math.max(...rows.map(([name]) => name.length)), 28);
  const lines = rows.flatMap(([name, text]) => {
    const [first = '', ...more] = wrap(text, width - left - 4);
    const head =
      name.length > left ? [`  ${name}`, `${' '.repeat(left + 4)}${first}`] : [`  ${name.padEnd(left)}  ${first}`];
    return [...head, ...more.map((line) => `${' '.repeat(left + 4)}${line}`)];
  });
  return [`${title}:`, ...lines].join('\n');
}

/** Wraps sentences again, whatever line they were written on; lines that begin with a space stay as they are. */
function fill(text: string, width: number): string {
  return text
    .replace(/(?<=[^.:\n])\n(?=[^\s])/g, ' ')
    .split('\n')
    .flatMap((line) => (line.startsWith(' ') || line === '' ? [line] : wrap(line, width)))
    .join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
