import { type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions, onlyCluster } from '../../shared/cluster-options.ts';
import { dumpOptions } from './options.ts';

export const clusterDumpOptions = [
  { name: 'output', short: 'o', value: 'FILE', summary: 'file to write', complete: 'file' },
  ...dumpOptions,
  ...connectionOptions,
] as const satisfies readonly Option[];

/** The command that packs what a bug report needs. */
export const clusterDumpCommands: readonly Command[] = [
  defineCommand({
    path: ['cluster-dump'],
    inRay: true,
    summary: 'collect logs and state for a bug report, without secrets',
    description:
      'Writes a .tar.gz with status, nodes, demand, events, jobs, the journal of scaling decisions, the end of the\n' +
      "head's log, the cluster file and versions; CONTENTS.txt lists what is in it. Values that look like secrets, values of\n" +
      'env_vars and all tokens are replaced by *** wherever they occur. Job output is not included. It also works while the head is down.\n' +
      'Here -h is short for --host, as in ray. With --json: {"file", "bytes", "entries"}.',
    args: [onlyCluster],
    options: clusterDumpOptions,
    examples: ['manta cluster-dump -o problem.tar.gz', 'manta cluster-dump cluster.yaml --no-logs'],
    load: () => import('./cluster-dump.ts'),
  }),
];
