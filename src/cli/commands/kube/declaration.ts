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
  {
    name: 'scaler',
    value: 'manta',
    choices: ['manta'],
    excludes: ['rollback'],
    summary: "run Manta's planner, queue and page in the head's pod",
  },
  {
    name: 'image',
    value: 'IMAGE',
    needs: ['scaler'],
    summary: 'with --scaler: image with Node 24 and bash for its container',
  },
  {
    name: 'scaler-claim',
    value: 'NAME',
    needs: ['scaler'],
    summary: 'with --scaler: PersistentVolumeClaim that keeps the queue when the head pod is lost',
  },
  {
    name: 'scaler-service',
    needs: ['scaler'],
    summary: 'with --scaler: a Service, so that pods of the cluster can use the queue with a token',
  },
  { name: 'force-conflicts', summary: 'take over fields that another tool owns' },
] as const satisfies readonly Option[];

export const kubeInstallOptions = [
  ...whereOptions,
  { name: 'yes', short: 'y', summary: 'install without asking' },
  { name: 'plan', summary: 'show what would change, and stop' },
  { name: 'wait', off: 'no-wait', summary: 'wait until CRDs are served and the operator runs' },
  { name: 'timeout', value: 'SECONDS', type: 'integer', min: 1, default: 300, summary: 'how long to wait for each' },
  { name: 'force-conflicts', summary: 'take over fields that another tool owns' },
] as const satisfies readonly Option[];

export const kubeDeleteOptions = [
  ...whereOptions,
  { name: 'yes', short: 'y', summary: 'delete without asking' },
  { name: 'wait', off: 'no-wait', summary: 'wait until they are gone' },
  { name: 'timeout', value: 'SECONDS', type: 'integer', min: 1, default: 300, summary: 'how long to wait' },
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
      "With --scaler manta: Manta's planner scales the cluster instead of Ray's autoscaler, and has a queue and a page; see docs/kubernetes.md.\n" +
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
      'manta kube apply --scaler manta raycluster.yaml',
    ],
    load: () => import('./apply.ts'),
  }),
  defineCommand({
    path: ['kube', 'install'],
    summary: 'install or upgrade KubeRay from rendered manifests',
    description:
      'Applies CRDs first, then the rest, with server-side apply: CRDs are too large for a plain apply, and Helm never upgrades them. Waits until CRDs are served and Deployments run. What belongs to a Helm release is left to Helm.\n' +
      'Without a source: names the release that fits the cluster, and how to get it.\n' +
      'With --json: a line {"plan"}, or {"release"}.\n' +
      'Exit code: 0 installed, 1 refused or not up, 2 the source could not be read or nobody could confirm.',
    args: [{ name: 'SOURCE', summary: 'file, folder or URL of manifests, or - for standard input', complete: 'file' }],
    options: kubeInstallOptions,
    examples: ['manta kube install', 'manta kube install kuberay.yaml'],
    load: () => import('./install.ts'),
  }),
  defineCommand({
    path: ['kube', 'delete'],
    summary: 'delete RayClusters, RayServices and RayJobs, and wait until they are gone',
    description:
      'Takes KIND/NAME, or files, of which only objects of KubeRay are deleted: volumes, secrets and services of your own stay.\n' +
      'Exit code: 0 they are gone, 1 they are still there or you declined, 2 nobody could confirm.',
    args: [
      { name: 'OBJECT', summary: 'KIND/NAME, or a file with manifests', required: true, many: true, complete: 'file' },
    ],
    options: kubeDeleteOptions,
    examples: ['manta kube delete rayservice/NAME', 'manta kube delete --yes rayservice.yaml'],
    load: () => import('./delete.ts'),
  }),
];
