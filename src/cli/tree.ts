import type { Command } from './command.ts';

/** Commands form a tree by their words: `config` is a group, `config check` a command. */

export const samePath = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word, index) => word === b[index]);

/** As a user types it. */
export const typed = (path: readonly string[]): string => ['manta', ...path].join(' ');

export const commandAt = (path: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find((command) => samePath(command.path, path));

/** Words that may follow these. */
export function nextWords(path: readonly string[], commands: readonly Command[], hidden = true): string[] {
  const below = commands.filter(
    (command) =>
      command.path.length > path.length &&
      samePath(command.path.slice(0, path.length), path) &&
      (hidden || command.hidden !== true),
  );
  return [...new Set(below.map((command) => command.path[path.length]!))];
}
