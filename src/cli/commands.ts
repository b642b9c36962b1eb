import type { Command } from './command.ts';
import { clusterCommands } from './commands/cluster.ts';
import { configCommands } from './commands/config.ts';
import { devCommands } from './commands/dev.ts';
import { jobCommands } from './commands/job.ts';
import { launchCommands } from './commands/launch.ts';
import { mantaCommands } from './commands/manta.ts';
import { shimCommands } from './commands/shim.ts';
import { simulateCommands } from './commands/simulation.ts';
import { upDownCommands } from './commands/up-down.ts';
import type { Groups } from './help.ts';

/** Every command. Declarations only: the code of a command loads when it runs. */
export const commands: readonly Command[] = [
  ...upDownCommands,
  ...launchCommands,
  ...jobCommands,
  ...clusterCommands,
  ...configCommands,
  ...simulateCommands,
  ...devCommands,
  ...shimCommands,
  ...mantaCommands,
];

/** What each group of commands is for. */
export const groups: Groups = {
  config: 'read, check and convert cluster files',
  job: 'run commands on a cluster',
  user: 'who may use a cluster',
  'host-key': 'which keys the machines of a cluster are known by',
  shim: 'let scripts that call ray call Manta',
  dev: 'look inside the planner',
};
