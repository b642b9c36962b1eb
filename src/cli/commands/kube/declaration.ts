import { type Command, defineCommand, type Option } from '../../command.ts';

/** Which cluster of the kubeconfig is meant; `-n` stays Manta's own. */
const whereOptions = [
  { name: 'context', value: 'NAME', summary: 'context of the kubeconfig (default: the current one)' },
  { name: 'namespace', value: 'NAME', summary: "namespace (default: the context's, else 'default')" },
] as const satisfies readonly Option[];

export const kubeCheckOptions = [
  ...whereOptions,
  { name: 'rbac', summary: "print the minimal Role that Manta's commands need, and exit" },
] as const satisfies readonly Option[];

export const kubeApplyOptions = [
  ...whereOptions,
  { name: 'yes', short: 'y', summary: 'apply without asking' },
  { name: 'plan', summary: 'show what would change, and exit' },
  { name: 'wait', off: 'no-wait', summary: 'wait until each object of KubeRay is up' },
  {
    name: 'timeout',
    value: 'SECONDS',
    type: 'integer',
    min: 1,
    default: 900,
    summary: 'how long to wait for each of them',
  },
  {
    name: 'serve-config',
    value: 'FILE',
    complete: 'file',
    summary: 'put this Serve config into the RayService of the files',
    excludes: ['rollback'],
  },
  { name: 'rollback', summary: 'go back to the last spec that came up; FILE may be KIND/NAME' },
  { name: 'force-conflicts', summary: 'take over fields that another tool owns' },
] as const satisfies readonly Option[];

/** Commands about Kubernetes that have no counterpart on other clusters. */
export const kubeCommands: readonly Command[] = [
  defineCommand({
    path: ['kube', 'check'],
    summary: 'check that a Kubernetes cluster is ready for Ray',
    description:
      "Looks at the API server, your permissions, KubeRay's CRDs and operator, nodes, accelerators, quotas, storage classes and the Pod Security level. Changes nothing. Each problem comes with what to do.\n" +
      'With --rbac: prints a Role, and an optional ClusterRole, for your administrator; calls no API server.\n' +
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
  defineCommand({
    path: ['kube', 'apply'],
    summary: 'apply manifests, and wait until what they describe really runs',
    description:
      'Checks the files, lets the API server try them, shows what would change and what that does, asks, and applies all objects in order (server-side apply). Then waits: for a RayCluster until all its pods are ready and current; for a RayService until Serve itself runs the new config and the Service routes to it; for a RayJob until its entrypoint runs. If that does not happen, it reports the first cause.\n' +
      'With --rollback: applies the last spec that came up, or the one before it if that is what runs now.\n' +
      'With --json: a line {"findings"} where the files have problems, then a line {"plan": [{"kind", "name", "effect", "notes", "room", "differences"}]}.\n' +
      'Exit code: 0 applied and up, 1 refused or not up, 2 a file could not be read or there was no terminal to confirm on, 3 KubeRay is not installed.',
    args: [
      { name: 'FILE', summary: 'manifests, or - for standard input', required: true, many: true, complete: 'file' },
    ],
    options: kubeApplyOptions,
    examples: [
      'manta kube apply rayservice.yaml',
      'manta kube apply --yes --no-wait *.yaml',
      'manta kube apply --plan rayservice.yaml',
      'manta kube apply --serve-config config.yaml rayservice.yaml',
      'manta kube apply --rollback rayservice/NAME',
    ],
    load: () => import('./apply.ts'),
  }),
];
