import type { Manifest } from './manifest.ts';
import { type Json, textAt } from './object.ts';
import { keeperOf } from './owners.ts';

/** The release of KubeRay that Manta is tested with, by the least minor version of Kubernetes that it supports. */
const releases: readonly { readonly version: string; readonly since: number }[] = [
  { version: '1.6.2', since: 28 },
  { version: '1.3.2', since: 23 },
];

/** The release that fits a version of Kubernetes (`v1.35.4`). */
export function fittingRelease(kubernetes: string): string {
  const minor = Number(/^v?1\.(\d+)/.exec(kubernetes)?.[1] ?? '99');
  return (releases.find(({ since }) => minor >= since) ?? releases.at(-1)!).version;
}

/** How to get a release, step by step: Manta renders no charts. */
export const releaseText = (version: string): string =>
  [
    `KubeRay ${version} fits this cluster. Render its chart and install that:`,
    '  helm repo add kuberay https://ray-project.github.io/kuberay-helm/',
    `  helm template kuberay-operator kuberay/kuberay-operator --version ${version} --include-crds > kuberay.yaml`,
    '  manta kube install kuberay.yaml',
    `Without Helm: kubectl kustomize 'https://github.com/ray-project/kuberay/ray-operator/config/default?ref=v${version}' > kuberay.yaml`,
    '',
  ].join('\n');

const first = [
  'CustomResourceDefinition',
  'Namespace',
  'ServiceAccount',
  'ClusterRole',
  'Role',
  'ClusterRoleBinding',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'Service',
];

/** CRDs first, then what others need; Deployments last. */
export function installOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  const rank = ({ kind }: Manifest): number => (first.includes(kind) ? first.indexOf(kind) : first.length);
  return manifests.toSorted((a, b) => rank(a) - rank(b));
}

/** The Helm release that an object belongs to, other than CRDs, which Helm installs and never upgrades. */
export function helmReleaseOf(kind: string, live: Json | undefined): string | undefined {
  if (kind === 'CustomResourceDefinition') return undefined;
  const keeper = keeperOf(live);
  return keeper?.startsWith('Helm') ? keeper : undefined;
}

/** Whether a CRD is served. */
export const isEstablished = (crd: Json): boolean => {
  const conditions = (crd as { readonly status?: { readonly conditions?: readonly Json[] } }).status?.conditions ?? [];
  return conditions.some((each) => textAt(each, 'type') === 'Established' && textAt(each, 'status') === 'True');
};
