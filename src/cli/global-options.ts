import type { Option } from './command.ts';

/** Understood by every command, before or after its name. */
export const globalOptions: readonly Option[] = [
  { name: 'json', summary: 'print JSON lines: results to stdout, events and errors to stderr' },
  { name: 'verbose', short: 'v', summary: 'also show debug events and the causes of errors' },
  { name: 'quiet', short: 'q', summary: 'only show warnings, errors and the result' },
  { name: 'color', summary: 'use color even without a terminal (also FORCE_COLOR=1)' },
  { name: 'no-color', summary: 'do not use color (also NO_COLOR=1)' },
  { name: 'help', short: 'h', summary: 'show help for a command' },
  { name: 'version', short: 'V', summary: 'print the version' },
  {
    name: 'logging-level',
    value: 'LEVEL',
    summary: 'accepted for compatibility with `ray`; use --verbose or --quiet',
    ignored: 'use --verbose or --quiet instead',
  },
  {
    name: 'logging-format',
    value: 'FORMAT',
    summary: 'accepted for compatibility with `ray`; use --json for programs',
    ignored: 'there is one text format; use --json for programs',
  },
];

/** A global option as it was typed. */
export interface GivenGlobal {
  readonly option: Option;
  readonly value?: string;
}

export interface Globals {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
  /** Undefined: decided by the environment and the terminal. */
  readonly color: boolean | undefined;
}

/** The global options among these names, the last one winning between `color` and `no-color`. */
export function globalsOf(names: readonly string[]): Globals {
  const colorWord = names.findLast((name) => name === 'color' || name === 'no-color');
  return {
    json: names.includes('json'),
    verbose: names.includes('verbose'),
    quiet: names.includes('quiet'),
    color: colorWord === undefined ? undefined : colorWord === 'color',
  };
}

/** For a command line that could not be parsed: how to render that very error. */
export function globalsTyped(words: readonly string[]): Globals {
  const end = words.indexOf('--');
  const names = (end < 0 ? words : words.slice(0, end)).flatMap((word) => {
    const option = globalOptions.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
    return option === undefined ? [] : [option.name];
  });
  return globalsOf(names);
}
