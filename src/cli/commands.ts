import type { Command } from './command.ts';
import { cloudCommands } from './commands/cloud/declaration.ts';
import { clusterDumpCommands } from './commands/cluster-dump/declaration.ts';
import { configCommands } from './commands/config/declaration.ts';
import { dashboardCommands } from './commands/dashboard/declaration.ts';
import { demoCommands } from './commands/demo/declaration.ts';
import { devCommands } from './commands/dev/declaration.ts';
import { downCommands } from './commands/down/declaration.ts';
import { execCommands } from './commands/exec/declaration.ts';
import { jobCommands } from './commands/job/declaration.ts';
import { kubeCommands } from './commands/kube/declaration.ts';
import { listCommands } from './commands/list/declaration.ts';
import { mantaCommands } from './commands/manta/declaration.ts';
import { nodeCommands } from './commands/nodes/declaration.ts';
import { rsyncCommands } from './commands/rsync/declaration.ts';
import { scaleCommands } from './commands/scale/declaration.ts';
import { serveCommands } from './commands/serve/declaration.ts';
import { shimCommands } from './commands/shim/declaration.ts';
import { simulateCommands } from './commands/simulate/declaration.ts';
import { statusCommands } from './commands/status/declaration.ts';
import { upCommands } from './commands/up/declaration.ts';
import { userCommands } from './commands/user/declaration.ts';
import type { Groups } from './help.ts';

/** Every command. Declarations only: the code of a command loads when it runs. */
export const commands: readonly Command[] = [
  ...upCommands,
  ...downCommands,
  ...demoCommands,
  ...execCommands,
  ...rsyncCommands,
  ...nodeCommands,
  ...jobCommands,
  ...listCommands,
  ...statusCommands,
  ...scaleCommands,
  ...dashboardCommands,
  ...clusterDumpCommands,
  ...userCommands,
  ...configCommands,
  ...cloudCommands,
  ...kubeCommands,
  ...serveCommands,
  ...simulateCommands,
  ...devCommands,
  ...shimCommands,
  ...mantaCommands,
];

/** What each group of commands is for. */
export const groups: Groups = {
  config: 'read, check and convert cluster files',
  cloud: 'show what a cluster needs from its cloud',
  kube: 'run Ray on Kubernetes with KubeRay',
  serve: 'run applications of Ray Serve',
  job: 'run commands on a cluster',
  user: 'manage who may use a cluster',
  'host-key': "manage the host keys of a cluster's machines",
  shim: 'make scripts that call ray use Manta',
  dev: 'inspect the planner',
};
