import type { Io, Run } from '../../command.ts';
import { commands, groups } from '../../commands.ts';
import { type Completion, complete } from '../../complete.ts';

export const run: Run = async ({ args, rest }, io) => {
  const bash = args[0] === 'bash';
  const words = bash ? joinAtEquals(rest) : rest;
  const { candidates, paths } = await completed(words, io);
  const current = words.at(-1) ?? '';
  // bash takes the part after `=` for a word of its own, so only that part may be answered.
  const cut = bash && current.startsWith('--') ? current.indexOf('=') + 1 : 0;
  const lines = candidates.map(({ value, summary }) => `${value.slice(cut)}\t${summary}`);
  io.out(`${[...lines, `:${paths}`].join('\n')}\n`);
  return 0;
};

/** What knows the clusters here loads only where one may be meant. */
async function completed(words: readonly string[], io: Io): Promise<Completion> {
  let asked = false;
  const without = complete(words, commands, groups, () => {
    asked = true;
    return [];
  });
  if (!asked) return without;
  const { clusterNames, stateHome } = await import('../../../state/state-folder.ts');
  const names = clusterNames(stateHome(io.env));
  return complete(words, commands, groups, () => names);
}

/** bash hands `--faults=mild` over as three words. */
function joinAtEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const last = joined.length - 1;
    const follows = words[index - 1] === '=' && joined[last]?.endsWith('=') === true;
    if (last >= 0 && (follows || (word === '=' && joined[last]!.startsWith('--')))) joined[last] += word;
    else joined.push(word);
  }
  return joined;
}
