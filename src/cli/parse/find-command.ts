import { nearest } from '../../core/spec/keys/nearest.ts';
import type { Command } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { type GivenGlobal, globalOptions } from '../global-options.ts';
import { insteadOf, rayCommandOf, rayWords } from '../ray-commands.ts';
import { nextWords, samePath, typed } from '../tree.ts';

export interface Found {
  readonly command: Command | undefined;
  readonly path: readonly string[];
  readonly globals: readonly GivenGlobal[];
  readonly rest: readonly string[];
}

/** Follows the words as long as they lead to a command; only global options may stand in between. */
export function findCommand(words: readonly string[], commands: readonly Command[]): Found {
  const path: string[] = [];
  const globals: GivenGlobal[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word.startsWith('-')) {
      const read = readGlobals(word, words[index + 1], path, commands);
      globals.push(...read.given);
      if (read.tookNext) index++;
      continue;
    }
    const next = wordMeant(word, path, commands);
    if (next === undefined || rayCommandOf([...path, ...words.slice(index)]) !== undefined)
      throw unknownWord(words.slice(index), path, commands);
    path.push(next);
    const command = commands.find((each) => samePath(each.path, path));
    if (command !== undefined) return { command, path, globals, rest: words.slice(index + 1) };
  }
  return { command: undefined, path, globals, rest: [] };
}

/** The next word of a path: as it stands, with `_` for `-`, or a name of an earlier Ray. */
function wordMeant(word: string, path: readonly string[], commands: readonly Command[]): string | undefined {
  const next = nextWords(path, commands);
  const spelled = word.replaceAll('_', '-');
  const direct = [word, spelled].find((each) => next.includes(each));
  if (direct !== undefined) return direct;
  const former = commands.find(
    (command) =>
      samePath(command.path.slice(0, -1), path) && command.formerly?.some((name) => name === word || name === spelled),
  );
  return former?.path.at(-1);
}

function unknownWord(words: readonly string[], path: readonly string[], commands: readonly Command[]): Error {
  const all = [...path, ...words];
  const belonging = rayCommandOf(all);
  if (belonging !== undefined)
    return cliErrors.BelongsToRay({
      typed: ['ray', ...belonging.path].join(' '),
      instead: insteadOf(belonging, all),
    });
  const next = [...nextWords(path, commands), ...(path.length === 0 ? rayWords : [])];
  return cliErrors.UnknownCommand({ word: words[0]!, command: typed(path), nearest: nearest(words[0]!, next) });
}

/** One word before the command: `--json`, `-vq`, `--logging-level info`. */
function readGlobals(
  word: string,
  following: string | undefined,
  path: readonly string[],
  commands: readonly Command[],
): { given: GivenGlobal[]; tookNext: boolean } {
  const long = word.startsWith('--');
  const equals = long ? word.indexOf('=') : -1;
  const shown = equals < 0 ? word : word.slice(0, equals);
  const names = long ? [shown.slice(2)] : word.slice(1).split('');
  let tookNext = false;
  const given = names.map((name): GivenGlobal => {
    const option = globalOptions.find((each) => (long ? each.name === name.replaceAll('_', '-') : each.short === name));
    if (option === undefined) throw unknownGlobal(shown, path, commands);
    const value = equals < 0 ? undefined : word.slice(equals + 1);
    if (option.value === undefined) {
      if (value !== undefined) throw cliErrors.UnexpectedValue({ command: typed(path), option: shown, value });
      return { option };
    }
    if (value !== undefined) return { option, value };
    if (following === undefined)
      throw cliErrors.MissingValue({ command: typed(path), option: shown, value: option.value });
    tookNext = true;
    return { option, value: following };
  });
  return { given, tookNext };
}

function unknownGlobal(shown: string, path: readonly string[], commands: readonly Command[]): Error {
  const owner = commands.find((command) => command.options.some((each) => `--${each.name}` === shown));
  const near = nearest(
    shown.replace(/^-+/, ''),
    globalOptions.map(({ name }) => name),
  );
  return cliErrors.UnknownOption({
    command: typed(path),
    option: shown,
    nearest: owner !== undefined ? `${typed(owner.path)} ${shown}` : near === undefined ? undefined : `--${near}`,
  });
}
