import type { Command } from './command.ts';
import { configCommands } from './commands/config.ts';
import { devCommands } from './commands/dev.ts';
import { mantaCommands } from './commands/manta.ts';
import { simulateCommands } from './commands/simulation.ts';
import type { Groups } from './help.ts';

/** Every command. Declarations only: the code of a command loads when it runs. */
export const commands: readonly Command[] = [...configCommands, ...simulateCommands, ...devCommands, ...mantaCommands];

/** What each group of commands is for. */
export const groups: Groups = {
  config: 'read, check and convert cluster files',
  dev: 'look inside the planner',
};
