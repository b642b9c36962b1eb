import type { Command } from './command.ts';
import { clusterCommands } from './commands/cluster.ts';
import { configCommands } from './commands/config.ts';
import { devCommands } from './commands/dev.ts';
import { jobCommands } from './commands/job.ts';
import { mantaCommands } from './commands/manta.ts';
import { simulateCommands } from './commands/simulation.ts';
import { upDownCommands } from './commands/up-down.ts';
import type { Groups } from './help.ts';

/** Every command. Declarations only: the code of a command loads when it runs. */
export const commands: readonly Command[] = [
  ...upDownCommands,
  ...jobCommands,
  ...clusterCommands,
  ...configCommands,
  ...simulateCommands,
  ...devCommands,
  ...mantaCommands,
];

/** What each group of commands is for. */
export const groups: Groups = {
  config: 'read, check and convert cluster files',
  job: 'run commands on a cluster',
  user: 'who may use a cluster',
  dev: 'look inside the planner',
};
