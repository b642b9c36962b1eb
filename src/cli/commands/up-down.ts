import { type Command, defineCommand, type Option } from '../command.ts';
import {
  clusterArgument,
  clusterNameOption,
  connectionOptions,
  disableUsageStats,
  noConfigCache,
  onlyCluster,
  rayLogOptions,
} from './cluster-options.ts';

export const upOptions = [
  clusterNameOption,
  {
    name: 'min-workers',
    value: 'N',
    type: 'integer',
    summary: 'workers to keep, where the file has one type of worker',
  },
  { name: 'max-workers', value: 'N', type: 'integer', summary: 'workers at most, in place of the file' },
  {
    name: 'engine',
    value: 'ENGINE',
    choices: ['embedded', 'ray'],
    summary: 'on this machine: embedded, or a real Ray whose raylets are the workers; wins over the file',
  },
  {
    name: 'no-restart',
    summary: 'leave a Ray that runs as it is, also where its start commands changed',
    excludes: ['restart-only'],
  },
  { name: 'restart-only', summary: 'run the start commands alone, without sync and set-up' },
  {
    name: 'for',
    value: 'DURATION',
    summary: 'let the cluster end by itself after so long: 8h, 90m',
    excludes: ['until'],
  },
  {
    name: 'until',
    value: 'WHEN',
    summary: 'let it end by itself then: 18:00, or a date and time; never takes that back',
  },
  { name: 'yes', short: 'y', summary: 'do not ask' },
  { name: 'plan', summary: 'say what would be done, and do nothing' },
  { name: 'no-wait', summary: 'come back when the head is up, as `ray up` does' },
  {
    name: 'port',
    value: 'PORT',
    type: 'integer',
    summary: 'port of the API and the page on this machine (8265, or the next free one)',
  },
  {
    name: 'use-login-shells',
    off: 'use-normal-shells',
    summary: 'whether commands of the file run in login shells (without it they do)',
  },
  disableUsageStats,
  {
    name: 'redirect-command-output',
    summary: "taken for ray's sake",
    ignored: 'output of set-up commands is always kept in files on the node, and shown when a command fails',
  },
  noConfigCache,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const downOptions = [
  clusterNameOption,
  { name: 'yes', short: 'y', summary: 'do not ask' },
  { name: 'workers-only', summary: 'end the workers, keep the head' },
  { name: 'keep-min-workers', summary: 'keep as many workers as min_workers says' },
  { name: 'keep-state', summary: 'keep jobs, logs and journal for the next `up`' },
  { name: 'forget', summary: 'give up machines that do not answer; they are named' },
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const extendOptions = [
  { name: 'until', value: 'WHEN', summary: 'until then, in place of DURATION: 18:00, or a date and time' },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands that start and end a cluster. */
export const upDownCommands: readonly Command[] = [
  defineCommand({
    path: ['up'],
    formerly: ['create-or-update'],
    inRay: true,
    summary: 'start a cluster, or bring a running one to what its file says',
    description:
      'Shows what it will do, asks, and waits until the nodes it promised are up. Run again it changes nothing, or only what changed in the file; lower limits end the workers above them.\n' +
      'Without a file it starts a cluster on this machine: workers are processes that come with the work and go after it. The same happens with a file whose provider is `process`; node types, limits and idle times are then those of the file. Without a file a cluster that is known keeps its own.\n' +
      'With `--engine ray` the workers are raylets of a real Ray. It is the Ray of MANTA_RAY_PYTHON, or of the `ray` on the PATH, or one that Manta installs for itself after asking.\n' +
      'A file at an http(s) address must be answered within 5 s; it is kept with the cluster and not written into this folder.',
    args: [
      {
        ...clusterArgument,
        summary: `${clusterArgument.summary}; without it one on this machine, that of MANTA_CLUSTER or default`,
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
  defineCommand({
    path: ['down'],
    formerly: ['teardown'],
    inRay: true,
    summary: 'end a cluster and everything that runs in it',
    description:
      'Ends the daemon, the instances and their jobs, and comes back when none of its processes is left on any of its machines; machines that do not answer are named. On this machine jobs and their output are deleted unless --keep-state is given. What was cut short is completed by running it again.',
    args: [onlyCluster],
    options: downOptions,
    examples: ['manta down cluster.yaml -y', 'manta down', 'manta down second --keep-state'],
    load: () => import('./down.ts'),
  }),
  defineCommand({
    path: ['extend'],
    summary: 'keep a cluster that ends by itself for longer',
    description:
      'Neither idle_shutdown nor max_lifetime nor --until ends it before. A length of time counts from the end that is set, or from now where there is none. With --json: {"turnOff"}, absent where nothing ends the cluster by itself.',
    args: [onlyCluster, { name: 'DURATION', summary: 'for how long: 2h, 90m' }],
    options: extendOptions,
    examples: ['manta extend 2h', 'manta extend cluster.yaml 2h', 'manta extend training --until 22:00'],
    load: () => import('./extend.ts'),
  }),
  defineCommand({
    path: ['demo'],
    summary: 'show a cluster of this machine scale up for a sweep of jobs, and down again',
    description:
      'Starts a cluster named `demo`, runs twelve small jobs on it and tells what happens. On a terminal the cluster stays for you to try things on; without one it is ended.',
    args: [],
    options: [],
    examples: ['manta demo'],
    load: () => import('./demo.ts'),
  }),
];
