import { type Command, defineCommand, type Option } from '../../command.ts';
import { clusterNameOption, connectionOptions, onlyCluster, rayLogOptions } from '../../shared/cluster-options.ts';

export const downOptions = [
  clusterNameOption,
  { name: 'yes', short: 'y', summary: 'skip the confirmation' },
  { name: 'workers-only', summary: 'terminate the workers, keep the head' },
  { name: 'keep-min-workers', summary: 'keep min_workers workers' },
  { name: 'keep-state', summary: 'keep jobs, logs and the journal for the next `up`' },
  { name: 'forget', summary: 'give up on machines that do not respond, and list them' },
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const extendOptions = [
  { name: 'until', value: 'WHEN', summary: 'keep it until this time instead: 18:00, or a date and time' },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands that decide when a cluster ends. */
export const downCommands: readonly Command[] = [
  defineCommand({
    path: ['down'],
    formerly: ['teardown'],
    inRay: true,
    summary: 'shut down a cluster and terminate its instances',
    description:
      'Stops the jobs, terminates the instances and the daemon, and returns when none of its processes is left on any machine; machines that do not respond are listed. For a cluster on this machine, jobs and their output are deleted unless you pass --keep-state. If it is interrupted, run it again to finish.',
    args: [onlyCluster],
    options: downOptions,
    examples: ['manta down cluster.yaml -y', 'manta down', 'manta down second --keep-state'],
    load: () => import('./down.ts'),
  }),
  defineCommand({
    path: ['extend'],
    summary: 'postpone the automatic shutdown of a cluster',
    description:
      'Overrides idle_shutdown, max_lifetime and --until. A duration counts from the current shutdown time, or from now if there is none. With --json: {"turnOff"}, absent if no automatic shutdown is set.',
    args: [onlyCluster, { name: 'DURATION', summary: 'how much longer: 2h, 90m' }],
    options: extendOptions,
    examples: ['manta extend 2h', 'manta extend cluster.yaml 2h', 'manta extend training --until 22:00'],
    load: () => import('./extend.ts'),
  }),
];
