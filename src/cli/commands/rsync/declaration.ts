import { type Command, defineCommand, type Option } from '../../command.ts';
import { clusterNameOption, kubeOptions, onlyCluster, rayLogOptions } from '../../shared/cluster-options.ts';

const rsyncWords =
  'Paths work as in rsync: a trailing slash means the contents of the folder. Without paths, all file_mounts are\n' +
  'copied. If the cluster uses containers, paths on the node are inside the container.';

export const rsyncUpOptions = [
  clusterNameOption,
  { name: 'all-nodes', short: 'A', summary: 'copy to every node (default: only the head, as in ray)' },
  ...rayLogOptions,
  ...kubeOptions,
] as const satisfies readonly Option[];

export const rsyncDownOptions = [
  clusterNameOption,
  ...rayLogOptions,
  ...kubeOptions,
] as const satisfies readonly Option[];

/** Commands that copy files to and from nodes. */
export const rsyncCommands: readonly Command[] = [
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
];
