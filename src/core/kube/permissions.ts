/** What Manta's commands ask of an API server, in one namespace. The one list behind `kube check` and its `--rbac`. */
export interface Permission {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** What cannot be done without it. */
  readonly for: string;
}

export const permissions: readonly Permission[] = [
  {
    group: 'ray.io',
    resources: ['rayclusters', 'rayservices', 'rayjobs', 'raycronjobs'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    for: 'kube apply, kube delete, status',
  },
  { group: '', resources: ['pods'], verbs: ['get', 'list', 'watch'], for: 'kube apply, status' },
  { group: '', resources: ['pods/log'], verbs: ['get'], for: 'logs, first causes' },
  { group: '', resources: ['pods/exec', 'pods/portforward'], verbs: ['get', 'create'], for: 'exec, attach, dashboard' },
  { group: '', resources: ['events', 'services'], verbs: ['get', 'list', 'watch'], for: 'kube apply, first causes' },
  { group: '', resources: ['services/proxy'], verbs: ['get', 'create', 'update', 'delete'], for: 'serve, job' },
  { group: '', resources: ['secrets'], verbs: ['get', 'create', 'patch'], for: "Ray's token, kube apply --rollback" },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: ['get', 'list'], for: 'kube apply' },
  {
    group: '',
    resources: ['configmaps', 'persistentvolumeclaims', 'resourcequotas'],
    verbs: ['get', 'list'],
    for: 'kube check, first causes',
  },
];

/** Rights beyond the namespace: useful, and never needed. */
const clusterPermissions: readonly Permission[] = [
  { group: '', resources: ['nodes', 'namespaces'], verbs: ['get', 'list'], for: 'kube check' },
  { group: 'storage.k8s.io', resources: ['storageclasses'], verbs: ['get', 'list'], for: 'kube check' },
  { group: 'apps', resources: ['deployments'], verbs: ['get', 'list'], for: 'kube check' },
];

/** The least Role that Manta's commands need, as a manifest. */
export function roleManifest(namespace: string): string {
  const rule = ({ group, resources, verbs, for: use }: Permission): string =>
    [
      `  # ${use}`,
      `  - apiGroups: [${JSON.stringify(group)}]`,
      `    resources: [${resources.join(', ')}]`,
      `    verbs: [${verbs.join(', ')}]`,
    ].join('\n');
  const manifest = (kind: 'Role' | 'ClusterRole', rules: readonly Permission[]): string =>
    [
      'apiVersion: rbac.authorization.k8s.io/v1',
      `kind: ${kind}`,
      'metadata:',
      '  name: manta',
      ...(kind === 'Role' ? [`  namespace: ${namespace}`] : []),
      'rules:',
      ...rules.map(rule),
      '',
    ].join('\n');
  return `${manifest('Role', permissions)}---\n# optional: lets 'manta kube check' look at nodes, storage and the operator\n${manifest('ClusterRole', clusterPermissions)}`;
}
