import { type Command, defineCommand, type Option } from '../../command.ts';
import {
  clusterNameOption,
  disableUsageStats,
  kubeOptions,
  noConfigCache,
  onlyCluster,
  portForward,
  rayLogOptions,
  requiredCluster,
  screenOptions,
  startOption,
  stopOption,
} from '../../shared/cluster-options.ts';

export const execOptions = [
  clusterNameOption,
  {
    name: 'run-env',
    value: 'WHERE',
    choices: ['auto', 'host', 'docker'],
    summary: 'run in the container or on the host; auto prefers the container',
    default: 'auto',
  },
  startOption,
  stopOption,
  ...screenOptions,
  portForward,
  disableUsageStats,
  noConfigCache,
  ...rayLogOptions,
  ...kubeOptions,
] as const satisfies readonly Option[];

export const attachOptions = [
  clusterNameOption,
  startOption,
  { name: 'screen', summary: 'attach to the running screen session, or start one', excludes: ['tmux'] },
  { name: 'tmux', summary: 'attach to the running tmux session, or start one' },
  { name: 'new', short: 'N', summary: 'always start a new tmux or screen session', needs: ['tmux', 'screen'] },
  {
    name: 'session',
    value: 'ID',
    summary: 'attach to this session from `manta sessions`',
    excludes: ['tmux', 'screen', 'new'],
  },
  { name: 'node-ip', value: 'ADDRESS', summary: 'connect to the node with this address instead of the head' },
  portForward,
  noConfigCache,
  ...rayLogOptions,
  ...kubeOptions,
] as const satisfies readonly Option[];

export const submitOptions = [
  clusterNameOption,
  startOption,
  stopOption,
  ...screenOptions,
  portForward,
  { name: 'args', value: 'TEXT', dashed: true, summary: 'arguments for the script, as one string (deprecated in ray)' },
  {
    name: 'extra-screen-args',
    value: 'TEXT',
    dashed: true,
    summary: 'extra options for screen, as one string',
    needs: ['screen'],
  },
  disableUsageStats,
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const sessionsOptions = [
  clusterNameOption,
  { name: 'log', value: 'ID', summary: 'print the output of this session' },
  { name: 'follow', short: 'f', summary: 'follow the output until the session ends', needs: ['log'] },
] as const satisfies readonly Option[];

/** Commands that run something on the head, over SSH. */
export const execCommands: readonly Command[] = [
  defineCommand({
    path: ['exec'],
    inRay: true,
    summary: 'run a command on the head',
    description:
      'COMMAND is one quoted shell command, as in ray; after --, each word is passed as it is.\n' +
      'Standard input, output and error are passed through unchanged. The exit code is that of the command.\n' +
      'With --tmux or --screen it keeps running without this terminal; pass the printed id to `manta sessions`.',
    args: [
      requiredCluster,
      { name: 'COMMAND', summary: 'command to run, in quotes', required: true, manyAfterDashes: true },
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
    description:
      'A full terminal: window size, Ctrl-C and all keys are passed through. The exit code is that of the shell.',
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
      "Copies the script to the user's home directory and runs it with python, in the container if there is one. The exit code is that\n" +
      'of the script. Arguments after SCRIPT are passed to the script; put -- in front of them if some are also options of\n' +
      'this command. Global options (--json, --quiet) go before SCRIPT.\n' +
      'With --tmux or --screen it keeps running without this terminal; pass the printed id to `manta sessions`.\n' +
      'For a queue, retries and logs that survive the head, use `manta job submit`.',
    args: [
      requiredCluster,
      { name: 'SCRIPT', summary: 'Python file on this machine', required: true, complete: 'file' },
      { name: 'ARGS', summary: 'arguments for the script', many: true },
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
    path: ['sessions'],
    summary: 'list tmux and screen sessions on the head, with exit codes',
    description:
      'Sessions that `exec` and `submit` started with --tmux or --screen: id, command, start time, and the exit code once it has\n' +
      'ended. With --log: the output of one session. With --json: one session per line.',
    args: [onlyCluster],
    options: sessionsOptions,
    untilInterrupted: 'follow',
    examples: ['manta sessions cluster.yaml', 'manta sessions --log ID -f', 'manta attach --session ID'],
    load: () => import('./sessions.ts'),
  }),
];
