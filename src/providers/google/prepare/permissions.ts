import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { googleRegistryOf } from '../registry.ts';
import type { LaunchedType } from './file-types.ts';
import { hasAccount } from './file-types.ts';

const all = (noun: string, verbs: string): readonly string[] => verbs.split(' ').map((verb) => `${noun}.${verb}`);

/** What launching, listing and ending take, of instances and of slices where there are any. */
function running(types: readonly LaunchedType[]): readonly string[] {
  const passes = types.some(({ config, isSlice }) => isSlice || hasAccount(config));
  return [
    ...all('compute.instances', 'create delete get list setLabels setMetadata setTags start stop'),
    ...all('compute.disks', 'create get list setLabels delete use'),
    ...all('compute.images', 'get getFromFamily useReadOnly'),
    ...all('compute.subnetworks', 'use useExternalIp'),
    ...all('compute.zoneOperations', 'get list'),
    ...all('compute.globalOperations', 'list'),
    'compute.instances.setServiceAccount',
    ...(types.some(({ config }) => 'sourceInstanceTemplate' in config)
      ? all('compute.instanceTemplates', 'get useReadOnly')
      : []),
    ...(types.some(({ isSlice }) => isSlice)
      ? [
          ...all('tpu.nodes', 'create delete get list update'),
          ...all('tpu.queuedResources', 'create delete get list'),
          ...all('tpu.operations', 'get list'),
          ...all('tpu.locations', 'list'),
        ]
      : []),
    ...(passes ? ['iam.serviceAccounts.actAs'] : []),
  ];
}

const once = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

/** Whether the image of the head's container is in a registry of Google. */
const pullsImage = ({ head }: ClusterSpec): boolean => googleRegistryOf(head.container?.image ?? '') !== undefined;

/** Exactly what a head calls. */
export const headPermissions = (spec: ClusterSpec, types: readonly LaunchedType[]): readonly string[] =>
  once([...running(types), ...(pullsImage(spec) ? ['artifactregistry.repositories.downloadArtifacts'] : [])]);

/** What a laptop calls for `up`, `status` and `down`. */
export const userPermissions = (types: readonly LaunchedType[], ownAccount: boolean): readonly string[] =>
  once([
    ...running(types),
    'iam.serviceAccounts.actAs',
    ...all('compute.projects', 'get'),
    ...all('compute.regions', 'get list'),
    ...all('compute.machineTypes', 'get list'),
    ...all('compute.acceleratorTypes', 'get list'),
    ...all('compute.subnetworks', 'get list'),
    ...all('compute.firewalls', 'create delete get list update'),
    'compute.networks.updatePolicy',
    'orgpolicy.policy.get',
    'resourcemanager.projects.getIamPolicy',
    ...(types.some(({ isSlice }) => isSlice)
      ? [...all('tpu.acceleratortypes', 'list'), ...all('tpu.runtimeversions', 'list')]
      : []),
    ...(ownAccount
      ? [
          ...all('iam.serviceAccounts', 'create delete get'),
          ...all('iam.roles', 'create delete get undelete update'),
          'resourcemanager.projects.setIamPolicy',
        ]
      : []),
  ]);
