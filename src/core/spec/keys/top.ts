import { rayVersion } from '../../ray-version.ts';
import { type Key, key } from './key.ts';

const commands = { shell: true, default: "the provider's default" } as const;

export const topKeys: readonly Key[] = [
  key('cluster_name', 'string', 'Name of the cluster. It identifies the instances: a new name is a new cluster.', {
    default: 'default',
    example: 'training',
  }),
  key('max_workers', 'integer', 'Maximum number of workers of all types, not counting the head.', {
    minimum: 0,
    default: '2; local: the number of worker_ips',
    example: 10,
  }),
  key(
    'upscaling_speed',
    'number',
    'How many instances may be pending at once, as a multiple of the running ones; at least 5.',
    {
      minimum: 0,
      default: '1.0',
      example: 1,
    },
  ),
  key('idle_timeout_minutes', 'number', 'Minutes without work after which a worker is terminated.', {
    minimum: 0,
    default: '5',
    example: 10,
  }),
  key('provider', 'section', 'Where instances come from. Keys not listed here are passed to the provider.', {
    required: true,
    open: true,
    example: { type: 'aws', region: 'us-west-2' },
  }),
  key('auth', 'section', 'How to log in to the instances.', { default: "the provider's default" }),
  key('auth.ssh_user', 'string', 'User to log in as.', {
    example: 'ubuntu',
  }),
  key('auth.ssh_private_key', 'string', 'Path of the private key.', {
    default: 'a key pair created for the cluster',
    example: '~/.ssh/cluster.pem',
  }),
  key('auth.ssh_public_key', 'string', 'Path of the public key; Azure needs it.', { example: '~/.ssh/cluster.pub' }),
  key('auth.ssh_proxy_command', 'string', 'Command that ssh uses to reach the instances (ProxyCommand).', {
    shell: true,
    example: 'ssh -W %h:%p bastion',
  }),
  key('auth.ssh_proxy_use_node_id', 'boolean', 'Pass the instance id to the proxy command instead of the address.', {
    default: 'false',
    example: true,
  }),
  key('docker', 'section', 'Run Ray in a container on every node. If empty, Ray runs on the host.', { default: '{}' }),
  key('docker.image', 'string', 'Image for the head and the workers.', { example: `rayproject/ray:${rayVersion}` }),
  key('docker.container_name', 'string', 'Name of the container; required with an image.', {
    example: 'ray_container',
  }),
  key('docker.pull_before_run', 'boolean', 'Pull the image even if a copy exists.', {
    default: 'true',
    example: true,
  }),
  key('docker.run_options', 'list', 'Options for `docker run`, verbatim, in order.', {
    shell: true,
    default: '[]',
    example: ['--ulimit nofile=65536:65536'],
  }),
  key('docker.head_image', 'string', 'Image for the head.', {
    default: 'docker.image',
    example: `rayproject/ray:${rayVersion}-cpu`,
  }),
  key('docker.head_run_options', 'list', 'Options for `docker run` on the head, after run_options.', {
    shell: true,
    default: '[]',
    example: ['--privileged'],
  }),
  key('docker.worker_image', 'string', 'Image for the workers.', {
    default: 'docker.image',
    example: `rayproject/ray:${rayVersion}-gpu`,
  }),
  key('docker.worker_run_options', 'list', 'Options for `docker run` on the workers, after run_options.', {
    shell: true,
    default: '[]',
    example: ['--gpus all'],
  }),
  key('docker.disable_automatic_runtime_detection', 'boolean', 'Do not add the NVIDIA runtime when a GPU is found.', {
    default: 'false',
    example: true,
  }),
  key('docker.disable_shm_size_detection', 'boolean', 'Do not set --shm-size from the free memory.', {
    default: 'false',
    example: true,
  }),
  key('docker.use_podman', 'boolean', 'Use podman instead of docker.', { default: 'false', example: true }),
  key('head_node_type', 'string', 'The node type of the head; one of available_node_types.', {
    default: "the name of the provider's default head type",
    example: 'head',
  }),
  key('file_mounts', 'map', 'Files and directories to copy to every node, as remote path to local path.', {
    shell: true,
    default: '{}',
    example: { '/data/model': './model' },
  }),
  key('cluster_synced_files', 'list', 'Paths on the head that are copied to every worker.', {
    shell: true,
    default: '[]',
    example: ['~/project'],
  }),
  key('file_mounts_sync_continuously', 'boolean', 'Also copy changed mounts to running workers.', {
    default: 'false',
    example: false,
  }),
  key('rsync_exclude', 'list', 'Patterns of files not to copy.', { shell: true, default: '[]', example: ['**/.git'] }),
  key('rsync_filter', 'list', 'Names of files with exclude patterns, read in every directory.', {
    shell: true,
    default: '[]',
    example: ['.gitignore'],
  }),
  key('metadata', 'map', 'Free for your own use; Manta does not read it.', {
    open: true,
    example: { owner: 'vision' },
  }),
  key('initialization_commands', 'commands', 'Run on the host of every node, before any container.', {
    ...commands,
    example: ['sudo usermod -aG docker $USER'],
  }),
  key('setup_commands', 'commands', 'Run on every node, in the container if there is one.', {
    ...commands,
    example: ['pip install -U ray[default]'],
  }),
  key('head_setup_commands', 'commands', 'Run on the head after setup_commands.', {
    ...commands,
    example: ['pip install boto3'],
  }),
  key('worker_setup_commands', 'commands', 'Run on the workers after setup_commands.', {
    ...commands,
    example: ['pip install torch'],
  }),
  key('head_start_ray_commands', 'commands', 'Start Ray on the head.', {
    ...commands,
    example: ['ray stop', 'ray start --head --port=6379 --autoscaling-config=~/ray_bootstrap_config.yaml'],
  }),
  key('worker_start_ray_commands', 'commands', 'Start Ray on a worker.', {
    ...commands,
    example: ['ray stop', 'ray start --address=$RAY_HEAD_IP:6379'],
  }),
  key('no_restart', 'any', 'Written by `ray up` into the file it sends to the head; has no effect in your own file.'),
];
