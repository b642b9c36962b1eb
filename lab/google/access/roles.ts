/** Roles and what they allow, as far as anything here asks for it. `*` stands for any part of a name. */

/** Every permission that something here asks for, which is what roles are written out from. */
export const knownPermissions: readonly string[] = [
  ...verbs(
    'compute.instances',
    'create delete get list start stop reset setLabels setMetadata setServiceAccount setTags',
  ),
  ...verbs('compute.instances', 'getSerialPortOutput use osLogin osAdminLogin setDeletionProtection setScheduling'),
  ...verbs('compute.disks', 'create delete get list use setLabels'),
  ...verbs('compute.images', 'get list getFromFamily useReadOnly'),
  ...verbs('compute.instanceTemplates', 'get list useReadOnly'),
  ...verbs('compute.networks', 'get list updatePolicy use'),
  ...verbs('compute.subnetworks', 'get list use useExternalIp'),
  ...verbs('compute.firewalls', 'create delete get list update'),
  ...verbs('compute.machineTypes', 'get list'),
  ...verbs('compute.acceleratorTypes', 'get list'),
  ...verbs('compute.zones', 'get list'),
  ...verbs('compute.regions', 'get list'),
  ...verbs('compute.projects', 'get setCommonInstanceMetadata'),
  ...verbs('compute.zoneOperations', 'get list delete'),
  ...verbs('compute.regionOperations', 'get list'),
  ...verbs('compute.globalOperations', 'get list'),
  ...verbs('compute.reservations', 'get list'),
  ...verbs('tpu.nodes', 'create delete get list start stop update'),
  ...verbs('tpu.queuedResources', 'create delete get list'),
  ...verbs('tpu.acceleratortypes', 'get list'),
  ...verbs('tpu.runtimeversions', 'get list'),
  ...verbs('tpu.operations', 'get list'),
  ...verbs('tpu.locations', 'get list'),
  ...verbs('iam.serviceAccounts', 'actAs create delete get list getIamPolicy setIamPolicy'),
  ...verbs('iam.roles', 'create delete get list undelete update'),
  ...verbs('resourcemanager.projects', 'get list getIamPolicy setIamPolicy'),
  ...verbs('orgpolicy.policy', 'get'),
  ...verbs('storage.objects', 'create delete get list'),
  ...verbs('artifactregistry.repositories', 'get list downloadArtifacts'),
  ...verbs('secretmanager.versions', 'access'),
  ...verbs('serviceusage.services', 'enable get list use'),
];

function verbs(noun: string, words: string): readonly string[] {
  return words.split(' ').map((verb) => `${noun}.${verb}`);
}

interface Predefined {
  readonly title: string;
  readonly allows: readonly string[];
  readonly but?: readonly string[];
}

export const predefinedRoles: ReadonlyMap<string, Predefined> = new Map(
  Object.entries({
    owner: { title: 'Owner', allows: ['*'] },
    editor: {
      title: 'Editor',
      allows: ['*'],
      but: ['*.setIamPolicy', 'iam.roles.create', 'iam.roles.delete', 'iam.roles.update'],
    },
    viewer: { title: 'Viewer', allows: ['*.get', '*.list', '*.getIamPolicy', '*.getFromFamily'] },
    'compute.admin': { title: 'Compute Admin', allows: ['compute.*', 'resourcemanager.projects.get'] },
    'compute.instanceAdmin.v1': {
      title: 'Compute Instance Admin (v1)',
      allows: ['compute.instances.*', 'compute.disks.*', 'compute.subnetworks.*', 'compute.*.get', 'compute.*.list'],
      but: ['compute.firewalls.*', 'compute.instances.osLogin', 'compute.instances.osAdminLogin'],
    },
    'compute.viewer': {
      title: 'Compute Viewer',
      allows: ['compute.*.get', 'compute.*.list', 'resourcemanager.projects.get'],
    },
    'compute.networkUser': { title: 'Compute Network User', allows: ['compute.networks.*', 'compute.subnetworks.*'] },
    'compute.networkViewer': {
      title: 'Compute Network Viewer',
      allows: [
        'compute.networks.get',
        'compute.networks.list',
        'compute.subnetworks.get',
        'compute.subnetworks.list',
        'compute.firewalls.get',
        'compute.firewalls.list',
      ],
    },
    'compute.osLogin': {
      title: 'Compute OS Login',
      allows: ['compute.instances.osLogin', 'compute.instances.get', 'compute.projects.get'],
    },
    'compute.osAdminLogin': {
      title: 'Compute OS Admin Login',
      allows: [
        'compute.instances.osLogin',
        'compute.instances.osAdminLogin',
        'compute.instances.get',
        'compute.projects.get',
      ],
    },
    'tpu.admin': { title: 'TPU ADMIN', allows: ['tpu.*', 'resourcemanager.projects.get'] },
    'tpu.viewer': { title: 'TPU Viewer', allows: ['tpu.*.get', 'tpu.*.list'] },
    'iam.serviceAccountUser': {
      title: 'Service Account User',
      allows: [
        'iam.serviceAccounts.actAs',
        'iam.serviceAccounts.get',
        'iam.serviceAccounts.list',
        'resourcemanager.projects.get',
      ],
    },
    'iam.serviceAccountAdmin': {
      title: 'Service Account Admin',
      allows: ['iam.serviceAccounts.*'],
      but: ['iam.serviceAccounts.actAs'],
    },
    'iam.roleViewer': {
      title: 'Role Viewer',
      allows: [
        'iam.roles.get',
        'iam.roles.list',
        'resourcemanager.projects.get',
        'resourcemanager.projects.getIamPolicy',
      ],
    },
    'iam.roleAdmin': {
      title: 'Role Administrator',
      allows: ['iam.roles.*', 'resourcemanager.projects.get', 'resourcemanager.projects.getIamPolicy'],
    },
    'resourcemanager.projectIamAdmin': {
      title: 'Project IAM Admin',
      allows: ['resourcemanager.projects.*IamPolicy', 'resourcemanager.projects.get', 'iam.*.get', 'iam.*.list'],
    },
    'storage.objectAdmin': { title: 'Storage Object Admin', allows: ['storage.objects.*'] },
    'storage.objectViewer': { title: 'Storage Object Viewer', allows: ['storage.objects.get', 'storage.objects.list'] },
    'artifactregistry.reader': { title: 'Artifact Registry Reader', allows: ['artifactregistry.*'] },
    'secretmanager.secretAccessor': {
      title: 'Secret Manager Secret Accessor',
      allows: ['secretmanager.versions.access'],
    },
    'serviceusage.serviceUsageConsumer': {
      title: 'Service Usage Consumer',
      allows: ['serviceusage.services.get', 'serviceusage.services.list', 'serviceusage.services.use'],
    },
  } satisfies Record<string, Predefined>).map(([name, role]) => [`roles/${name}`, role]),
);

const fits = (patterns: readonly string[], permission: string): boolean =>
  patterns.some((pattern) => {
    const parts = pattern.split('*');
    if (parts.length === 1) return pattern === permission;
    const [start = '', end = ''] = [parts[0], parts.at(-1)];
    return permission.startsWith(start) && permission.endsWith(end) && permission.length >= start.length + end.length;
  });

/** What a predefined role allows; undefined where there is none of that name. */
export function permissionsOf(name: string): readonly string[] | undefined {
  const role = predefinedRoles.get(name);
  return role && knownPermissions.filter((each) => fits(role.allows, each) && !fits(role.but ?? [], each));
}
