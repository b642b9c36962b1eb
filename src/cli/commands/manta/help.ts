import { nearest } from '../../../core/spec/keys/nearest.ts';
import type { Run } from '../../command.ts';
import { commands, groups } from '../../commands.ts';
import { cliErrors } from '../../errors.ts';
import { helpText } from '../../help.ts';
import { nextWords, typed } from '../../tree.ts';

export const run: Run = async ({ args }, io) => {
  for (const [index, word] of args.entries()) {
    const path = args.slice(0, index);
    const next = nextWords(path, commands);
    if (!next.includes(word))
      throw cliErrors.UnknownCommand({ word, command: typed(path), nearest: nearest(word, next) });
  }
  io.out(helpText(args, commands, groups, io.columns));
  return 0;
};
