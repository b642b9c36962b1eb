import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { setPythonFacts } from '../yaml/python.ts';

/**
 * What Ray fills in for each provider before it looks at anything else. A key of the file replaces the whole
 * default under it. (The values for aliyun and the fake providers are those of the last wheels that shipped them.)
 */
export function defaultsOf(providerType: string): PlainMap | undefined {
  const make = ownValue(makers, providerType);
  if (make === undefined) return undefined;
  const defaults = make();
  const floats = ['upscaling_speed', 'idle_timeout_minutes'].filter(
    (key) => key in defaults && (key !== 'idle_timeout_minutes' || providerType === 'spark'),
  );
  setPythonFacts(defaults, { floats: new Set(floats), keys: new Map() });
  return defaults;
}

const makers: Readonly<Record<string, () => PlainMap>> = {
  aws,
  gcp,
  azure,
  aliyun,
  vsphere,
  local,
  external,
  spark,
  readonly: readonlyCluster,
  fake_multinode: fakeMultinode,
  fake_multinode_docker: fakeMultinodeDocker,
};

/** Files and synchronisation: nothing, for every provider. */
const noFiles = (): PlainMap => ({
  file_mounts: {},
  cluster_synced_files: [],
  file_mounts_sync_continuously: false,
  rsync_exclude: [],
  rsync_filter: [],
});

const noSetup = (): PlainMap => ({
  initialization_commands: [],
  setup_commands: [],
  head_setup_commands: [],
  worker_setup_commands: [],
});

const noCommands = (): PlainMap => ({ ...noSetup(), head_start_ray_commands: [], worker_start_ray_commands: [] });

const cloudLimits = (): PlainMap => ({
  cluster_name: 'default',
  max_workers: 2,
  upscaling_speed: 1,
  docker: {},
  idle_timeout_minutes: 5,
});

const bootstrapFile = '~/ray_bootstrap_config.yaml';
const cloudStart = (): PlainMap => ({
  head_start_ray_commands: [
    'ray stop',
    `ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076 --autoscaling-config=${bootstrapFile} --dashboard-host=0.0.0.0`,
  ],
  worker_start_ray_commands: [
    'ray stop',
    'ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379 --object-manager-port=8076',
  ],
});

/** Ray's own set-up line: the nightly wheel for one version of Python, unless some Ray is there. */
const installRay = (python: string): string =>
  `which ray || pip install -U "ray[default] @ https://s3-us-west-2.amazonaws.com/ray-wheels/latest/ray-3.0.0.dev0-${python}-manylinux2014_x86_64.whl"`;

const putOnPath = (test: string, folder: string): string =>
  `(stat ${test} &> /dev/null && echo 'export PATH="${folder}:$PATH"' >> ~/.bashrc) || true`;

function aws(): PlainMap {
  const tensorflow = '$HOME/anaconda3/envs/tensorflow2_p310';
  return {
    ...cloudLimits(),
    provider: {
      type: 'aws',
      region: 'us-west-2',
      availability_zone: 'us-west-2a,us-west-2b',
      cache_stopped_nodes: true,
    },
    auth: { ssh_user: 'ubuntu' },
    available_node_types: {
      'ray.head.default': {
        resources: {},
        node_config: {
          InstanceType: 'm5.large',
          BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 256 } }],
        },
      },
      'ray.worker.default': {
        min_workers: 0,
        resources: {},
        node_config: { InstanceType: 'm5.large', InstanceMarketOptions: { MarketType: 'spot' } },
      },
    },
    head_node_type: 'ray.head.default',
    ...noFiles(),
    initialization_commands: [],
    setup_commands: [putOnPath(`${tensorflow}/`, `${tensorflow}/bin`), installRay('cp310-cp310')],
    head_setup_commands: ["pip install 'boto3>=1.4.8'"],
    worker_setup_commands: [],
    ...cloudStart(),
  };
}

function gcp(): PlainMap {
  const node = (): PlainMap => ({
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
  });
  return {
    ...cloudLimits(),
    provider: { type: 'gcp', region: 'us-west1', availability_zone: 'us-west1-a', project_id: null },
    auth: { ssh_user: 'ubuntu' },
    available_node_types: {
      ray_head_default: { resources: { CPU: 2 }, node_config: node() },
      ray_worker_small: {
        min_workers: 0,
        resources: { CPU: 2 },
        node_config: { ...node(), scheduling: [{ preemptible: true }] },
      },
    },
    head_node_type: 'ray_head_default',
    ...noFiles(),
    initialization_commands: [],
    setup_commands: [putOnPath('/opt/conda/bin/', '/opt/conda/bin'), installRay('cp37-cp37m')],
    head_setup_commands: ['pip install google-api-python-client==1.7.8'],
    worker_setup_commands: [],
    ...cloudStart(),
  };
}

function azure(): PlainMap {
  const vm = (): PlainMap => ({
    vmSize: 'Standard_D2s_v3',
    imagePublisher: 'microsoft-dsvm',
    imageOffer: 'ubuntu-2204',
    imageSku: '2204-gen2',
    imageVersion: 'latest',
  });
  return {
    ...cloudLimits(),
    provider: { type: 'azure', location: 'westus2', resource_group: 'ray-cluster', availability_zone: 'auto' },
    auth: { ssh_user: 'ubuntu' },
    available_node_types: {
      'ray.head.default': {
        resources: { CPU: 2 },
        node_config: { azure_arm_parameters: { ...vm(), availability_zone: 'none' } },
      },
      'ray.worker.default': {
        min_workers: 0,
        resources: { CPU: 2 },
        node_config: { azure_arm_parameters: { ...vm(), priority: 'Spot' } },
      },
    },
    head_node_type: 'ray.head.default',
    ...noFiles(),
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
    ...cloudStart(),
  };
}

function aliyun(): PlainMap {
  const image = 'ubuntu_20_04_x64_20G_alibase_20210420.vhd';
  return {
    ...cloudLimits(),
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
    ...noFiles(),
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
    ...cloudStart(),
    head_start_ray_commands: [
      'ray stop',
      `ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076 --dashboard-host=0.0.0.0  --autoscaling-config=${bootstrapFile}`,
    ],
  };
}

function vsphere(): PlainMap {
  return {
    ...cloudLimits(),
    cluster_name: 'ray-cluster',
    max_workers: 5,
    docker: {
      image: 'rayproject/ray-ml:latest',
      container_name: 'ray_container',
      pull_before_run: true,
      run_options: ['--ulimit nofile=65536:65536'],
    },
    provider: { type: 'vsphere' },
    auth: { ssh_user: 'ray', ssh_private_key: '~/ray-bootstrap-key.pem' },
    available_node_types: {
      'ray.head.default': { resources: {} },
      worker: { min_workers: 1, max_workers: 3, resources: {} },
      worker_2: { min_workers: 1, max_workers: 2, resources: {} },
    },
    head_node_type: 'ray.head.default',
    ...noFiles(),
    ...noSetup(),
    head_start_ray_commands: [
      'ray stop',
      `ulimit -n 65536; ray start --head --port=6379 --autoscaling-config=${bootstrapFile} --dashboard-host=0.0.0.0`,
    ],
    worker_start_ray_commands: ['ray stop', 'ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379'],
  };
}

function local(): PlainMap {
  return {
    cluster_name: 'default',
    auth: {},
    upscaling_speed: 1,
    idle_timeout_minutes: 5,
    docker: {},
    ...noSetup(),
    head_start_ray_commands: [
      'ray stop',
      `ulimit -c unlimited; ray start --head --port=6379 --autoscaling-config=${bootstrapFile}`,
    ],
    worker_start_ray_commands: ['ray stop', 'ray start --address=$RAY_HEAD_IP:6379'],
    ...noFiles(),
  };
}

function external(): PlainMap {
  return {
    available_node_types: { 'ray.head.default': {}, 'ray.worker.default': {} },
    head_node_type: 'ray.head.default',
    head_node: {},
    worker_nodes: {},
  };
}

/** Providers that look after nodes which something else starts. */
function managedElsewhere(type: string, name: string, maxWorkers: number, nodeTypes: PlainMap): Record<string, Plain> {
  return {
    cluster_name: name,
    max_workers: maxWorkers,
    provider: { type, use_node_id_as_ip: true, disable_node_updaters: true, disable_launch_config_check: true },
    available_node_types: nodeTypes,
    head_node_type: 'ray.head.default',
    upscaling_speed: 1,
    auth: {},
    docker: {},
    ...noCommands(),
    ...noFiles(),
  };
}

const fixedHead = (resources: PlainMap): PlainMap => ({ resources, node_config: {}, max_workers: 0 });
const fakeWorker = (resources: PlainMap, minWorkers: number, maxWorkers: number): PlainMap => ({
  resources: { ...resources, object_store_memory: 1_000_000_000 },
  node_config: {},
  min_workers: minWorkers,
  max_workers: maxWorkers,
});

function readonlyCluster(): PlainMap {
  return managedElsewhere('readonly', 'default', 0, { 'ray.head.default': fixedHead({}) });
}

function spark(): PlainMap {
  const types = { 'ray.head.default': fixedHead({ CPU: 8, GPU: 0 }), 'ray.worker': fakeWorker({ CPU: 1 }, 0, 4) };
  return { ...managedElsewhere('spark', 'spark', 8, types), idle_timeout_minutes: 1 };
}

function fakeMultinode(): PlainMap {
  const types = {
    'ray.head.default': fixedHead({ CPU: 8, GPU: 0 }),
    'ray.worker.cpu': fakeWorker({ CPU: 1 }, 0, 4),
    'ray.worker.gpu': fakeWorker({ CPU: 4, GPU: 1 }, 0, 2),
  };
  return { ...managedElsewhere('fake_multinode', 'fake_multinode', 8, types), idle_timeout_minutes: 0.1 };
}

function fakeMultinodeDocker(): PlainMap {
  const types = {
    'ray.head.default': fixedHead({ CPU: 4, GPU: 0 }),
    'ray.worker.cpu': fakeWorker({ CPU: 2 }, 1, 4),
    'ray.worker.gpu': fakeWorker({ CPU: 4, GPU: 1 }, 1, 2),
  };
  return {
    ...managedElsewhere('fake_multinode_docker', 'fake_docker', 8, types),
    provider: {
      type: 'fake_multinode_docker',
      disable_launch_config_check: true,
      disable_node_updaters: true,
      project_name: 'fake_docker',
      image: 'rayproject/ray:nightly',
      shared_volume_dir: '/tmp/fake_docker',
      head_resources: { CPU: 4, GPU: 0 },
    },
    auth: { ssh_user: 'ubuntu' },
    idle_timeout_minutes: 0.1,
  };
}
