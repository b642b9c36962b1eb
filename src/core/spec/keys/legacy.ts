import { type Key, key } from './key.ts';

const old = (path: string, shape: Key['shape'], doc: string, legacy: string, extra: Partial<Key> = {}): Key =>
  key(path, shape, doc, { ...extra, legacy });

/** Keys of earlier Ray versions. They are read as they were meant in their day. */
export const legacyKeys: readonly Key[] = [
  old(
    'head_node',
    'any',
    'Launch configuration of the head (Ray before 2.0).',
    'available_node_types with head_node_type',
    { open: true, example: { InstanceType: 'm5.large' } },
  ),
  old('worker_nodes', 'any', 'Launch configuration of the workers (Ray before 2.0).', 'available_node_types', {
    open: true,
    example: { InstanceType: 'm5.large' },
  }),
  old(
    'min_workers',
    'integer',
    'Minimum number of workers (Ray before 1.3); still read on local clusters.',
    'available_node_types.<type>.min_workers',
    { minimum: 0, example: 1 },
  ),
  old(
    'initial_workers',
    'integer',
    'Workers to start with (Ray before 1.1).',
    'provider.manta.node_types.<type>.initial_workers',
    { minimum: 0, example: 4 },
  ),
  old(
    'autoscaling_mode',
    'string',
    '`aggressive` launched all demand at once (Ray before 1.1).',
    'upscaling_speed: 99999 for aggressive',
    { example: 'default' },
  ),
  old(
    'target_utilization_fraction',
    'number',
    'Share of the cluster that should be in use (Ray before 1.1); upscaling_speed is 1 / fraction - 1.',
    'upscaling_speed',
    { minimum: 0, example: 0.8 },
  ),
  old(
    'worker_default_node_type',
    'string',
    'Type of the workers from min_workers and initial_workers (Ray 1.0).',
    'available_node_types.<type>.min_workers',
    { example: 'worker' },
  ),
  old(
    'worker_node_default_type',
    'string',
    'Earlier name of worker_default_node_type.',
    'available_node_types.<type>.min_workers',
    { example: 'worker' },
  ),
  old('max_worker_nodes', 'integer', 'Short-lived other name of max_workers (2023).', 'max_workers', {
    minimum: 0,
    example: 10,
  }),
  old(
    'min_worker_nodes',
    'integer',
    'Short-lived other name of min_workers (2023).',
    'available_node_types.<type>.min_workers',
    { minimum: 0, example: 1 },
  ),
  old(
    'available_node_types.<type>.max_worker_nodes',
    'integer',
    'Short-lived other name of max_workers (2023).',
    'available_node_types.<type>.max_workers',
    { minimum: 0, example: 10 },
  ),
  old(
    'available_node_types.<type>.min_worker_nodes',
    'integer',
    'Short-lived other name of min_workers (2023).',
    'available_node_types.<type>.min_workers',
    { minimum: 0, example: 1 },
  ),
  old(
    'available_node_types.<type>.setup_commands',
    'commands',
    'First name of worker_setup_commands in a node type (2020).',
    'available_node_types.<type>.worker_setup_commands',
    { shell: true },
  ),
  old('available_instance_types', 'map', 'First form of node types (2020).', 'available_node_types', { open: true }),
  old('available_instances', 'map', 'First form of node types (2020).', 'available_node_types', { open: true }),
  old('provider.available_instance_types', 'map', 'First form of node types (2020).', 'available_node_types', {
    open: true,
  }),
  old('init_commands', 'commands', 'Setup and start commands for the workers (2017).', 'worker_start_ray_commands', {
    shell: true,
  }),
  old(
    'worker_init_commands',
    'commands',
    'Setup and start commands for the workers (2017).',
    'worker_start_ray_commands',
    { shell: true },
  ),
  old('head_init_commands', 'commands', 'Setup and start commands for the head (2017).', 'head_start_ray_commands', {
    shell: true,
  }),
  old('node_creation_commands', 'commands', 'Name of setup_commands in Ray projects (2019).', 'setup_commands', {
    shell: true,
  }),
  old(
    'head_node_creation_commands',
    'commands',
    'Name of head_setup_commands in Ray projects (2019).',
    'head_setup_commands',
    { shell: true },
  ),
  old(
    'worker_node_creation_commands',
    'commands',
    'Name of worker_setup_commands in Ray projects (2019).',
    'worker_setup_commands',
    { shell: true },
  ),
  old('node_setup_commands', 'commands', 'Name of setup_commands in Ray projects (2019).', 'setup_commands', {
    shell: true,
  }),
  old(
    'node_start_commands',
    'any',
    'Run on every node before Ray starts (Ray projects, 2019).',
    'head_start_ray_commands and worker_start_ray_commands',
    { shell: true },
  ),
  old(
    'start_ray_commands',
    'commands',
    'Run on every node before its own start commands (Ray projects, 2019).',
    'head_start_ray_commands and worker_start_ray_commands',
    { shell: true },
  ),
  old(
    'ray_restart_commands',
    'commands',
    'Name of start_ray_commands (2019).',
    'head_start_ray_commands and worker_start_ray_commands',
    { shell: true },
  ),
  old('head_ray_restart_commands', 'commands', 'Name of head_start_ray_commands (2019).', 'head_start_ray_commands', {
    shell: true,
  }),
  old(
    'worker_ray_restart_commands',
    'commands',
    'Name of worker_start_ray_commands (2019).',
    'worker_start_ray_commands',
    { shell: true },
  ),
  old('docker.install_docker', 'boolean', 'Install docker on the nodes (2020).', 'initialization_commands', {
    example: false,
  }),
];
