import type { PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import { isText } from '../../core/spec/plain.ts';
import type { Path } from '../../core/spec/problem.ts';
import { pathText } from '../../core/spec/problems.ts';
import type { TrapFile } from '../../core/spec/provider-facts.ts';
import type { CloudDescriptor } from '../descriptor.ts';
import { cloudLimits, cloudStart, installRay, putOnPath } from '../not-run/cloud-defaults.ts';
import { cloudProblems } from '../not-run/problems.ts';
import { checkZones } from '../not-run/traps.ts';
import { noFiles } from '../ray-defaults.ts';
import { availabilityZone, cacheStoppedNodes, keyPair, region } from '../shared-keys.ts';
import { lastOf } from './client/links.ts';
import { googleResources, hostsPerSlice } from './machine-names.ts';
import { checkNodeConfig, isSpotOnGoogle, isTpu, marketOnGoogle } from './node-config.ts';
import { memberProblems } from './problems.ts';

const node = {
  machineType: 'n1-standard-2',
  disks: [
    {
      boot: true,
      autoDelete: true,
      type: 'PERSISTENT',
      initializeParams: {
        diskSizeGb: 50,
        sourceImage: 'projects/deeplearning-platform-release/global/images/family/common-cpu',
      },
    },
  ],
} as const;

const defaults: PlainMap = {
  ...cloudLimits,
  provider: { type: 'gcp', region: 'us-west1', availability_zone: 'us-west1-a', project_id: null },
  auth: { ssh_user: 'ubuntu' },
  available_node_types: {
    ray_head_default: { resources: { CPU: 2 }, node_config: node },
    ray_worker_small: {
      min_workers: 0,
      resources: { CPU: 2 },
      node_config: { ...node, scheduling: [{ preemptible: true }] },
    },
  },
  head_node_type: 'ray_head_default',
  ...noFiles,
  initialization_commands: [],
  setup_commands: [putOnPath('/opt/conda/bin/', '/opt/conda/bin'), installRay('cp37-cp37m')],
  head_setup_commands: ['pip install google-api-python-client==1.7.8'],
  worker_setup_commands: [],
  ...cloudStart,
};

export const gcp: CloudDescriptor = {
  name: 'gcp',
  kind: 'cloud',
  instances: 'instances of Google Compute Engine, and TPU slices',
  keys: [
    region('us-west1 without a provider block'),
    availabilityZone(),
    cacheStoppedNodes,
    keyPair,
    key('provider.project_id', 'string', 'Project of the instances.', { nullable: true, example: 'my-project-123' }),
    key('provider.gcp_credentials', 'section', 'Credentials to use instead of those in the environment.'),
    key('provider.gcp_credentials.type', 'string', 'Their kind.', {
      required: true,
      choices: ['credentials_token', 'service_account'],
      example: 'service_account',
    }),
    key('provider.gcp_credentials.credentials', 'string', 'The credentials themselves.', {
      example: '${env:GCP_CREDENTIALS}',
    }),
  ],
  defaults,
  ray: 'defaults',
  offers: {
    markets: ['on-demand', 'spot', 'reserved'],
    zones: true,
    isSpot: isSpotOnGoogle,
    isReserved: (launch) => marketOnGoogle(launch) === 'reserved',
    hostsPerSlice,
  },
  completesResources: true,
  machineOf,
  likelyResources: googleResources,
  needs: ['region', 'availability_zone'],
  traps,
  load: () => import('./provider.ts'),
};

function machineOf(launch: PlainMap): string | undefined {
  const name = isTpu(launch) ? launch.acceleratorType : launch.machineType;
  return isText(name) ? lastOf(name) : undefined;
}

function traps(file: TrapFile): void {
  checkZones(file);
  for (const { type, path } of file.written) {
    const accelerators = type.launchConfig.guestAccelerators;
    if (
      Array.isArray(accelerators) &&
      accelerators.length > 0 &&
      !isSpotOnGoogle(type.launchConfig) &&
      !JSON.stringify(type.launchConfig).includes('onHostMaintenance')
    )
      file.addAtKey(cloudProblems.GpuMaintenance, path, { type: type.name });
    checkMembers(file, type.launchConfig, path);
  }
}

/** What Google would refuse without saying where in the file it is. */
function checkMembers(file: TrapFile, launch: PlainMap, path: Path): void {
  const config: Path = path[0] === 'available_node_types' ? [...path, 'node_config'] : path;
  for (const problem of checkNodeConfig(launch)) {
    const at: Path = [...config, ...problem.path];
    if (problem.kind === 'unknown') file.addAtKey(memberProblems.UnknownMember, at, problem);
    else if (problem.kind === 'type')
      file.add(memberProblems.MemberType, at, { ...problem, name: pathText(problem.path) });
  }
}
