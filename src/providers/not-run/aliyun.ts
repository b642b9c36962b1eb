import type { PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';
import { isSpotOnAws } from '../aws/descriptor.ts';
import { awsResources } from '../aws/machine-names.ts';
import { bootstrapFile, noFiles } from '../ray-defaults.ts';
import { cacheStoppedNodes, region } from '../shared-keys.ts';
import { cloudLimits, cloudStart } from './cloud-defaults.ts';

const image = 'ubuntu_20_04_x64_20G_alibase_20210420.vhd';

/** Those of the last wheels that shipped it. */
const defaults: PlainMap = {
  ...cloudLimits,
  provider: {
    type: 'aliyun',
    region: 'cn-hangzhou',
    zone_id: 'cn-hangzhou-b',
    cidr_block: '172.16.0.0/24',
    cache_stopped_nodes: true,
    access_key: null,
    access_key_secret: null,
    key_name: 'default',
  },
  auth: { ssh_user: 'root' },
  available_node_types: {
    'ray.head.default': {
      resources: { CPU: 2 },
      node_config: {
        InstanceType: 'ecs.n4.large',
        ImageId: image,
        BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 140 } }],
      },
    },
    'ray.worker.default': {
      min_workers: 1,
      resources: { CPU: 8 },
      node_config: { InstanceType: 'ecs.n4.2xlarge', ImageId: image, InstanceMarketOptions: { MarketType: 'spot' } },
    },
  },
  head_node_type: 'ray.head.default',
  ...noFiles,
  initialization_commands: [],
  setup_commands: [
    'sudo apt-get update',
    'wget https://repo.continuum.io/archive/Anaconda3-2020.11-Linux-x86_64.sh || true',
    'bash Anaconda3-2020.11-Linux-x86_64.sh -b -p $HOME/anaconda3 || true',
    `echo 'export PATH="$HOME/anaconda3/bin:$PATH"' >> ~/.bashrc`,
    'pip install pytest-runner',
    'pip install -U ray',
  ],
  head_setup_commands: ['pip install aliyun-python-sdk-core', 'pip install aliyun-python-sdk-ecs'],
  worker_setup_commands: [],
  ...cloudStart,
  head_start_ray_commands: [
    'ray stop',
    `ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076 --dashboard-host=0.0.0.0  --autoscaling-config=${bootstrapFile}`,
  ],
};

/** Its launch configurations are in the words of AWS. */
export const aliyun: ProviderFacts = {
  name: 'aliyun',
  kind: 'cloud',
  keys: [
    region(),
    cacheStoppedNodes,
    key('provider.zone_id', 'string', 'Zone of the instances.', { nullable: true, example: 'cn-hangzhou-b' }),
    key('provider.cidr_block', 'string', 'Range of the network to create.', {
      nullable: true,
      example: '172.16.0.0/24',
    }),
    key('provider.access_key', 'string', 'Access key.', { nullable: true, example: '${env:ALIYUN_ACCESS_KEY}' }),
    key('provider.access_key_secret', 'string', 'Secret of the access key.', {
      nullable: true,
      example: '${env:ALIYUN_ACCESS_KEY_SECRET}',
    }),
    key('provider.key_name', 'string', 'Name of the key pair.', { nullable: true, example: 'my-key' }),
    key('provider.security_group_rule', 'any', 'Inbound rules of the security group.'),
  ],
  defaults,
  ray: 'defaults',
  offers: { markets: ['on-demand', 'spot'], isSpot: isSpotOnAws },
  likelyResources: awsResources,
};
