import { type Argument, type Command, defineCommand, type Option } from '../command.ts';
import {
  clusterNameOption,
  disableUsageStats,
  noConfigCache,
  onlyCluster,
  portForward,
  rayLogOptions,
  requiredCluster,
  screenOptions,
  startOption,
  stopOption,
} from './cluster-options.ts';

const node: Argument = {
  name: 'NODE',
  summary: 'the word head, an address of the node, or the id of its instance',
  required: true,
};

const yes = { name: 'yes', short: 'y', summary: 'do not ask' } as const satisfies Option;

const rsyncWords =
  'Paths are those of rsync: a folder with a slash at its end means what is in it. Without paths all file_mounts are\n' +
  'copied. In a cluster with containers a path on the node is one inside the container.';

export const execOptions = [
  clusterNameOption,
  {
    name: 'run-env',
    value: 'WHERE',
    choices: ['auto', 'host', 'docker'],
    summary: 'in the container, on the host, or in the container where there is one',
    default: 'auto',
  },
  startOption,
  stopOption,
  ...screenOptions,
  portForward,
  disableUsageStats,
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const attachOptions = [
  clusterNameOption,
  startOption,
  { name: 'screen', summary: 'in a screen: the one that runs, or a new one', excludes: ['tmux'] },
  { name: 'tmux', summary: 'in a tmux: the one that runs, or a new one' },
  { name: 'new', short: 'N', summary: 'in a new tmux or screen', needs: ['tmux', 'screen'] },
  {
    name: 'session',
    value: 'ID',
    summary: 'in a session that `manta sessions` lists',
    excludes: ['tmux', 'screen', 'new'],
  },
  { name: 'node-ip', value: 'ADDRESS', summary: 'on the node with this address, not on the head' },
  portForward,
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const submitOptions = [
  clusterNameOption,
  startOption,
  stopOption,
  ...screenOptions,
  portForward,
  { name: 'args', value: 'TEXT', dashed: true, summary: 'words for the script as one text; deprecated by ray' },
  {
    name: 'extra-screen-args',
    value: 'TEXT',
    dashed: true,
    summary: 'more options for screen, as one text',
    needs: ['screen'],
  },
  disableUsageStats,
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const rsyncUpOptions = [
  clusterNameOption,
  { name: 'all-nodes', short: 'A', summary: 'to every node; without it the head alone, as with ray' },
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const rsyncDownOptions = [clusterNameOption, ...rayLogOptions] as const satisfies readonly Option[];

export const getHeadIpOptions = [clusterNameOption] as const satisfies readonly Option[];

export const getWorkerIpsOptions = [clusterNameOption] as const satisfies readonly Option[];

export const sshOptions = [clusterNameOption, portForward] as const satisfies readonly Option[];

export const logsOptions = [
  clusterNameOption,
  { name: 'follow', short: 'f', summary: 'go on with what is written from now on' },
  { name: 'lines', value: 'N', type: 'integer', min: 0, summary: 'no more than the last N lines', default: 100 },
  { name: 'file', value: 'PATTERN', summary: "a file in Ray's log folder: raylet.out, gcs_server*" },
] as const satisfies readonly Option[];

export const sessionsOptions = [
  clusterNameOption,
  { name: 'log', value: 'ID', summary: 'print the output of this session' },
  { name: 'follow', short: 'f', summary: 'go on until it has ended', needs: ['log'] },
] as const satisfies readonly Option[];

export const hostKeyAcceptOptions = [clusterNameOption, yes] as const satisfies readonly Option[];

export const killRandomNodeOptions = [
  clusterNameOption,
  yes,
  { name: 'hard', summary: 'end the instance, not Ray alone' },
] as const satisfies readonly Option[];

/** Commands that reach the nodes of a cluster over SSH, with the words of `ray`. */
export const launchCommands: readonly Command[] = [
  defineCommand({
    path: ['exec'],
    inRay: true,
    summary: 'run a command on the head',
    description:
      'COMMAND is one word and a line for the shell, as with ray; behind -- every word stays one word.\n' +
      'Input, output and errors go through as they are, byte for byte. The exit code is that of the command.\n' +
      'With --tmux or --screen it goes on without this terminal: the handle that is printed is for `manta sessions`.',
    args: [
      requiredCluster,
      { name: 'COMMAND', summary: 'what to run, in quotes', required: true, manyAfterDashes: true },
    ],
    options: execOptions,
    formerOptions: { docker: '--run-env docker' },
    examples: [
      "manta exec cluster.yaml 'nvidia-smi && df -h'",
      'manta exec cluster.yaml -- ls -la',
      "manta exec cluster.yaml 'tensorboard --logdir ~/ray_results --port 6006' -p 6006",
      "manta exec cluster.yaml --start --stop --tmux 'python train.py'",
    ],
    load: () => import('./exec.ts'),
  }),
  defineCommand({
    path: ['attach'],
    inRay: true,
    summary: 'open a shell on the head',
    description: 'A terminal of its own: size, Ctrl-C and all letters go through. The exit code is that of the shell.',
    args: [onlyCluster],
    options: attachOptions,
    examples: ['manta attach cluster.yaml', 'manta attach cluster.yaml --tmux', 'manta attach cluster.yaml -p 8888'],
    load: () => import('./attach.ts'),
  }),
  defineCommand({
    path: ['submit'],
    inRay: true,
    summary: 'copy a Python script to the head and run it there',
    description:
      'The script is copied into the home folder and run with python, in the container where there is one; its exit code\n' +
      'is that of the command. Words behind SCRIPT are for the script, each as it was typed; those that are options of\n' +
      'this command are taken as such before a --, so put -- in front of them. Options of Manta itself (--json, --quiet)\n' +
      'stand before SCRIPT.\n' +
      'With --tmux or --screen it goes on without this terminal: the handle that is printed is for `manta sessions`.\n' +
      'A queue, retries and logs that outlast the head are in `manta job submit`.',
    args: [
      requiredCluster,
      { name: 'SCRIPT', summary: 'Python file on this machine', required: true, complete: 'file' },
      { name: 'ARGS', summary: 'words for the script', many: true },
    ],
    passUnknown: true,
    options: submitOptions,
    examples: [
      'manta submit cluster.yaml train.py -- --epochs 3',
      'manta submit cluster.yaml --start --stop --tmux train.py',
    ],
    load: () => import('./submit.ts'),
  }),
  defineCommand({
    path: ['rsync-up'],
    inRay: true,
    summary: 'copy files from this machine to the head',
    description: rsyncWords,
    args: [
      onlyCluster,
      { name: 'SOURCE', summary: 'path on this machine', complete: 'file' },
      { name: 'TARGET', summary: 'path on the head' },
    ],
    options: rsyncUpOptions,
    examples: ['manta rsync-up cluster.yaml ./data/ /home/ray/data/', 'manta rsync-up cluster.yaml'],
    load: () => import('./rsync-up.ts'),
  }),
  defineCommand({
    path: ['rsync-down'],
    inRay: true,
    summary: 'copy files from the head to this machine',
    description: rsyncWords,
    args: [
      onlyCluster,
      { name: 'SOURCE', summary: 'path on the head' },
      { name: 'TARGET', summary: 'path on this machine', complete: 'file' },
    ],
    options: rsyncDownOptions,
    examples: ["manta rsync-down cluster.yaml '~/ray_results/' ./results/"],
    load: () => import('./rsync-down.ts'),
  }),
  defineCommand({
    path: ['get-head-ip'],
    inRay: true,
    summary: 'print the address of the head, alone on its line',
    description: 'Exit code 4 when the cluster has no head.',
    args: [onlyCluster],
    options: getHeadIpOptions,
    examples: ['manta get-head-ip cluster.yaml'],
    load: () => import('./get-head-ip.ts'),
  }),
  defineCommand({
    path: ['get-worker-ips'],
    inRay: true,
    summary: 'print the addresses of the workers, one a line',
    args: [onlyCluster],
    options: getWorkerIpsOptions,
    examples: ['manta get-worker-ips cluster.yaml'],
    load: () => import('./get-worker-ips.ts'),
  }),
  defineCommand({
    path: ['ssh'],
    summary: 'open a shell on a node, or run a command there',
    description:
      'With the key, the user and the way that the cluster file says, and the host key that was pinned. On the host, not\n' +
      'in a container. The exit code is that of the command.',
    args: [onlyCluster, node],
    passThrough: true,
    options: sshOptions,
    examples: ['manta ssh head', 'manta ssh team 10.0.0.7 -- nvidia-smi'],
    load: () => import('./ssh.ts'),
  }),
  defineCommand({
    path: ['logs'],
    summary: 'print what was said on a node while it was set up, and by Ray',
    description:
      'Output of the steps of its bring-up, with their exit codes. With --file: a log file of Ray on that node. Output of\n' +
      'jobs is in `manta job logs`.',
    args: [onlyCluster, node],
    options: logsOptions,
    untilInterrupted: 'follow',
    examples: ['manta logs head', 'manta logs team 10.0.0.7 --file raylet.out -f'],
    load: () => import('./logs.ts'),
  }),
  defineCommand({
    path: ['sessions'],
    summary: 'list what runs in a tmux or screen on the head, with exit codes',
    description:
      'What `exec` and `submit` started with --tmux or --screen: id, command, since when, and the exit code once it has\n' +
      'ended. With --log: the output of one of them. With --json: one session a line.',
    args: [onlyCluster],
    options: sessionsOptions,
    untilInterrupted: 'follow',
    examples: ['manta sessions cluster.yaml', 'manta sessions --log ID -f', 'manta attach --session ID'],
    load: () => import('./sessions.ts'),
  }),
  defineCommand({
    path: ['host-key', 'accept'],
    summary: 'take the new host key of a node whose key has changed',
    description:
      'Shows the pinned key and the new one, asks, and pins the new one. Only the owner of the machine can tell whether\n' +
      'a changed key is a new machine or somebody in between.',
    args: [onlyCluster, node],
    options: hostKeyAcceptOptions,
    examples: ['manta host-key accept team 10.0.0.7'],
    load: () => import('./host-key-accept.ts'),
  }),
  defineCommand({
    path: ['kill-random-node'],
    inRay: true,
    hidden: true,
    summary: 'end a worker by chance, to see the cluster survive it',
    description:
      'Prints the address of the node. Ray is stopped there; with --hard the provider ends the instance, and nobody on it is told.',
    args: [onlyCluster],
    options: killRandomNodeOptions,
    examples: ['manta kill-random-node cluster.yaml -y --hard'],
    load: () => import('./kill-random-node.ts'),
  }),
];
