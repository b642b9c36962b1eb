import type { Command } from '../command.ts';

const name = {
  name: 'cluster-name',
  short: 'n',
  value: 'NAME',
  summary: "the cluster's name; wins over the one in the file",
} as const;

/** Commands that start and end a cluster. */
export const upDownCommands: readonly Command[] = [
  {
    path: ['up'],
    summary: 'start a cluster, or bring a running one to what its file says',
    description:
      'Without a file it starts a cluster on this machine: workers are processes that come with the work and go after it. With a file whose provider is `process` the node types, limits and idle times are those of the file. Run again it changes nothing, or applies what changed without touching jobs; without a file a cluster that is known keeps its own.',
    args: [{ name: 'FILE', summary: 'the cluster file; `-` reads standard input', complete: 'file' }],
    options: [
      name,
      {
        name: 'min-workers',
        value: 'N',
        type: 'integer',
        summary: 'workers to keep, where the file has one type of worker',
      },
      { name: 'max-workers', value: 'N', type: 'integer', summary: 'workers at most, in place of the file' },
      {
        name: 'port',
        value: 'PORT',
        type: 'integer',
        summary: 'port of the API and the page (8265, or the next free one)',
      },
      { name: 'yes', short: 'y', summary: 'accepted for the sake of scripts: nothing is asked here' },
    ],
    examples: ['manta up', 'manta up cluster.yaml --max-workers 8', 'manta up -n second'],
    load: () => import('./up.ts'),
  },
  {
    path: ['down'],
    summary: 'end a cluster and everything that runs in it',
    description:
      'Ends the daemon, the instances and their jobs, deletes its jobs and their output unless --keep-state is given, and comes back when none of its processes is left. What was cut short is completed by running it again.',
    args: [{ name: 'FILE', summary: 'the cluster file that names the cluster', complete: 'file' }],
    options: [
      name,
      { name: 'keep-state', summary: 'keep jobs, logs and journal for the next `up`' },
      { name: 'yes', short: 'y', summary: 'do not ask' },
    ],
    examples: ['manta down', 'manta down -n second --keep-state'],
    load: () => import('./down.ts'),
  },
  {
    path: ['demo'],
    summary: 'show a cluster of this machine scale up for a sweep of jobs, and down again',
    description:
      'Starts a cluster named `demo`, runs twelve small jobs on it and tells what happens. On a terminal the cluster stays for you to try things on; without one it is ended.',
    args: [],
    options: [],
    examples: ['manta demo'],
    load: () => import('./demo.ts'),
  },
];
