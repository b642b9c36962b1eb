import type { Resources } from '../../core/resources.ts';
import type { PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import { mapOf } from '../../core/spec/plain.ts';
import type { ProviderFacts, TrapFile } from '../../core/spec/provider-facts.ts';
import { isMap } from '../../core/spec/source.ts';
import { noFiles } from '../ray-defaults.ts';
import { availabilityZone, cacheStoppedNodes } from '../shared-keys.ts';
import { cloudLimits, cloudStart, installRay } from './cloud-defaults.ts';
import { likelyByName, withGpus } from './machine-names.ts';
import { cloudProblems } from './problems.ts';
import { checkStoppedDisks } from './traps.ts';

const vm = {
  vmSize: 'Standard_D2s_v3',
  imagePublisher: 'microsoft-dsvm',
  imageOffer: 'ubuntu-2204',
  imageSku: '2204-gen2',
  imageVersion: 'latest',
} as const;

const defaults: PlainMap = {
  ...cloudLimits,
  provider: { type: 'azure', location: 'westus2', resource_group: 'ray-cluster', availability_zone: 'auto' },
  auth: { ssh_user: 'ubuntu' },
  available_node_types: {
    'ray.head.default': {
      resources: { CPU: 2 },
      node_config: { azure_arm_parameters: { ...vm, availability_zone: 'none' } },
    },
    'ray.worker.default': {
      min_workers: 0,
      resources: { CPU: 2 },
      node_config: { azure_arm_parameters: { ...vm, priority: 'Spot' } },
    },
  },
  head_node_type: 'ray.head.default',
  ...noFiles,
  initialization_commands: ['touch ~/.sudo_as_admin_successful'],
  setup_commands: [
    `(which conda && echo 'eval "$(conda shell.bash hook)"' >> ~/.bashrc) || true`,
    'conda tos accept',
    'conda create -n ray-env python=3.10 -y',
    "conda activate ray-env && echo 'conda activate ray-env' >> ~/.bashrc",
    installRay('cp310-cp310'),
  ],
  head_setup_commands: [
    'pip install -U azure-core==1.35.0 azure-identity==1.23.1 azure-mgmt-compute==35.0.0 azure-mgmt-network==29.0.0 azure-mgmt-resource==24.0.0 azure-common==1.1.28 msrest==0.7.1 msrestazure==0.6.4.post1',
  ],
  worker_setup_commands: [],
  ...cloudStart,
};

function isSpotOnAzure(launch: PlainMap): boolean {
  const { priority } = isMap(launch.azure_arm_parameters) ? launch.azure_arm_parameters : launch;
  return typeof priority === 'string' && /^(spot|low)$/i.test(priority);
}

export const azure: ProviderFacts = {
  name: 'azure',
  kind: 'cloud',
  keys: [
    availabilityZone(),
    cacheStoppedNodes,
    key('provider.location', 'string', 'Location of the instances.', {
      default: 'westus2 without a provider block',
      example: 'westus2',
    }),
    key('provider.resource_group', 'string', 'Resource group to use or create.', {
      default: 'ray-cluster without a provider block',
      example: 'ray-cluster',
    }),
    key('provider.subscription_id', 'string', 'Subscription to bill.', {
      default: "that of the Azure CLI's login",
      example: '00000000-0000-0000-0000-000000000000',
    }),
    key('provider.tags', 'map', 'Tags for every created resource.', { open: true, example: { team: 'vision' } }),
    key('provider.msi_identity_id', 'string', 'Managed identity of the instances.'),
    key('provider.msi_identity_principal_id', 'string', 'Principal of the managed identity.'),
    key('provider.msi_name', 'any', 'Name of the managed identity to create.'),
    key('provider.msi_resource_group', 'any', 'Resource group of the managed identity.'),
    key('provider.subnet_id', 'string', 'Subnet of the instances.'),
    key('provider.subnet_mask', 'any', 'Range of the subnet to create.', { example: '10.0.0.0/16' }),
    key('provider.unique_id', 'any', 'Suffix for the names of created resources, to tell clusters apart.'),
  ],
  defaults,
  ray: 'defaults',
  offers: { markets: ['on-demand', 'spot'], isSpot: isSpotOnAzure },
  likelyResources: (launch) => likelyByName(mapOf(launch.azure_arm_parameters).vmSize, azureMachine),
  needs: ['location', 'resource_group'],
  traps,
};

/** `Standard_D2s_v3`, `Standard_NC24rs_v3`: the number is that of the CPUs; N families have a GPU for every six or so. */
function azureMachine(name: string): Resources | undefined {
  const match = /^standard_([a-z]+)(\d+)/.exec(name);
  if (!match) return undefined;
  const cpus = Number(match[2]);
  return withGpus(
    cpus,
    /^n[cdv]/.test(match[1] as string) && cpus <= 24 ? Math.max(1, Math.floor(cpus / 6)) : undefined,
  );
}

function traps(file: TrapFile): void {
  const [given, missing] =
    'ssh_private_key' in file.auth ? ['ssh_private_key', 'ssh_public_key'] : ['ssh_public_key', 'ssh_private_key'];
  if (given in file.auth && !(missing in file.auth))
    file.addAtKey(cloudProblems.HalfKeyPair, ['auth', given], { given, missing });
  checkStoppedDisks(file, 'azure');
}
