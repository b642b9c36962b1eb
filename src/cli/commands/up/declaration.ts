import { type Command, defineCommand, type Option } from '../../command.ts';
import {
  clusterArgument,
  clusterNameOption,
  disableUsageStats,
  noConfigCache,
  rayLogOptions,
} from '../../shared/cluster-options.ts';

export const upOptions = [
  clusterNameOption,
  {
    name: 'min-workers',
    value: 'N',
    type: 'integer',
    min: 0,
    summary: 'minimum workers, if the file has one worker type',
  },
  { name: 'max-workers', value: 'N', type: 'integer', min: 0, summary: 'maximum workers; overrides the file' },
  {
    name: 'engine',
    value: 'ENGINE',
    choices: ['embedded', 'ray'],
    summary: 'engine for a cluster on this machine; overrides the file',
  },
  {
    name: 'no-restart',
    summary: 'do not restart Ray, even if its start commands changed',
    excludes: ['restart-only'],
  },
  { name: 'restart-only', summary: 'only run the start commands, without file sync and setup' },
  {
    name: 'for',
    value: 'DURATION',
    summary: 'shut the cluster down after this long: 8h, 90m',
    excludes: ['until'],
  },
  {
    name: 'until',
    value: 'WHEN',
    summary: 'shut it down at this time: 18:00, a date and time, or never',
  },
  { name: 'yes', short: 'y', summary: 'skip the confirmation' },
  { name: 'plan', summary: 'show the plan without changing anything' },
  { name: 'no-wait', summary: 'return when the head is up, as `ray up` does' },
  {
    name: 'port',
    value: 'PORT',
    type: 'integer',
    summary: 'port of the API and web page (default: 8265 or the next free)',
  },
  {
    name: 'use-login-shells',
    off: 'use-normal-shells',
    summary: 'run commands of the file in login shells (default: yes)',
  },
  disableUsageStats,
  {
    name: 'redirect-command-output',
    summary: 'accepted for compatibility with `ray`; has no effect',
    ignored: 'the output of setup commands is always saved on the node, and shown if a command fails',
  },
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

/** The command that starts a cluster, or changes it. */
export const upCommands: readonly Command[] = [
  defineCommand({
    path: ['up'],
    formerly: ['create-or-update'],
    inRay: true,
    summary: 'start a cluster, or update a running one to match its file',
    description:
      'Shows the plan, asks for confirmation, and waits until the planned nodes are up. Running it again applies only what changed in the file; if you lower a limit, it terminates the workers above it.\n' +
      'Without a file it starts a cluster on this machine, whose workers are processes that start and stop with the load. A file with the provider `process` does the same with its own node types, limits and idle times. Without a file, an existing cluster keeps its own settings.\n' +
      'With `--engine ray` the workers are raylets of a real Ray: the one in MANTA_RAY_PYTHON, the `ray` on PATH, or one that Manta offers to install for itself.\n' +
      'A file at an http(s) address must download within 5 s; it is stored with the cluster, not in the current folder.',
    args: [
      {
        ...clusterArgument,
        summary: `${clusterArgument.summary} (default: MANTA_CLUSTER or \`default\`, on this machine)`,
      },
    ],
    options: upOptions,
    examples: [
      'manta up cluster.yaml',
      'manta up cluster.yaml --plan',
      'manta up cluster.yaml --for 8h',
      'manta up -y cluster.yaml -n second --max-workers 8',
      'manta up',
      'manta up --engine ray',
    ],
    load: () => import('./up.ts'),
  }),
];
