import { type Command, defineCommand, type Option } from '../../command.ts';
import { kubeWhere } from '../../shared/cluster-options.ts';

export const listOptions = [
  { name: 'kube', summary: 'list the RayClusters, RayServices and RayJobs of Kubernetes' },
  ...kubeWhere,
  { name: 'all-namespaces', short: 'A', summary: 'with --kube: in all namespaces', excludes: ['namespace'] },
] as const satisfies readonly Option[];

/** The command that lists clusters. */
export const listCommands: readonly Command[] = [
  defineCommand({
    path: ['list'],
    summary: 'list your clusters, here or on Kubernetes',
    description:
      'Lists the clusters that this machine knows, without asking them. With --kube: what runs in the namespace of the current context.\n' +
      'With --json: one cluster per line, {"name", "kind", "where", "state"}, or {"kind", "namespace", "name", "state", "clusters"} with --kube.\n' +
      "`list` with one of Ray's words, such as `nodes` or `actors`, is Ray's own command.",
    args: [],
    options: listOptions,
    examples: ['manta list', 'manta list --kube', 'manta list --kube --all-namespaces --context staging'],
    load: () => import('./list.ts'),
  }),
];
