import type { Option } from './command.ts';

/** Understood by every command, before or after its name. */
export const globalOptions: readonly Option[] = [
  { name: 'json', summary: 'print JSON lines: the result on standard output, events and errors on standard error' },
  { name: 'verbose', short: 'v', summary: 'say more: debug events and the causes of errors' },
  { name: 'quiet', short: 'q', summary: 'say less: only warnings, errors and the result' },
  { name: 'color', summary: 'use colours even without a terminal (also FORCE_COLOR=1)' },
  { name: 'no-color', summary: 'use no colours (also NO_COLOR=1)' },
  { name: 'help', short: 'h', summary: 'say what a command does and takes' },
  { name: 'version', short: 'V', summary: 'print the version' },
  {
    name: 'logging-level',
    value: 'LEVEL',
    summary: "taken for ray's sake; --verbose and --quiet do it here",
    ignored: '--verbose and --quiet say how much is told',
  },
  {
    name: 'logging-format',
    value: 'FORMAT',
    summary: "taken for ray's sake; --json is the form for programs",
    ignored: 'lines have one form, and --json is the one for programs',
  },
];

/** An option of every command as it was typed. */
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
