import { type Command, defineCommand, type Option } from '../../command.ts';

/** Which cluster of the kubeconfig is meant; `-n` stays Manta's own. */
const whereOptions = [
  { name: 'context', value: 'NAME', summary: 'context of the kubeconfig (default: the current one)' },
  { name: 'namespace', value: 'NAME', summary: "namespace (default: the context's, else 'default')" },
] as const satisfies readonly Option[];

export const kubeCheckOptions = [
  ...whereOptions,
  { name: 'rbac', summary: "print the least Role that Manta's commands need, and stop" },
] as const satisfies readonly Option[];

/** Commands about Kubernetes that have no counterpart on other clusters. */
export const kubeCommands: readonly Command[] = [
  defineCommand({
    path: ['kube', 'check'],
    summary: 'check that a Kubernetes cluster is ready for Ray',
    description:
      "Looks at the API server, your permissions, KubeRay's CRDs and operator, nodes, accelerators, quotas, storage classes and the Pod Security level. Changes nothing. Each line that is not fine says what to do.\n" +
      'With --rbac: prints a Role, and an optional ClusterRole, for your administrator; asks no API server.\n' +
      'With --json: one line, {"server", "context", "namespace", "checks": [{"what", "state", "says", "next"}]}.\n' +
      'Exit code: 0 nothing failed (warnings are allowed), 1 something failed.',
    args: [],
    options: kubeCheckOptions,
    examples: [
      'manta kube check',
      'manta kube check --context staging --namespace ray',
      'manta kube check --rbac > role.yaml',
    ],
    load: () => import('./check.ts'),
  }),
];
