import { rayVersion } from '../../ray-version.ts';
import { type Key, key } from './key.ts';

const commands = { shell: true } as const;

export const nodeTypeKeys: readonly Key[] = [
  key('available_node_types', 'named', 'The node types of the cluster, by name. Not for local clusters.', {
    default: "the provider's default head and worker",
    example: {
      worker: { resources: { CPU: 8 }, min_workers: 0, max_workers: 10, node_config: { InstanceType: 'm5.2xlarge' } },
    },
  }),
  key('available_node_types.<type>', 'section', 'One node type.'),
  key('available_node_types.<type>.node_config', 'map', "Launch settings in the provider's own format.", {
    open: true,
    example: { InstanceType: 'm5.2xlarge' },
  }),
  key(
    'available_node_types.<type>.resources',
    'named',
    'Resources of one node. If empty, they come from the provider, or from the node once it is running.',
    {
      default: '{}',
      example: { CPU: 8, GPU: 1 },
    },
  ),
  key(
    'available_node_types.<type>.resources.<name>',
    'number',
    'Amount of a resource: CPU, GPU, memory (bytes), or a name of your own.',
    { minimum: 0, example: 8 },
  ),
  key('available_node_types.<type>.min_workers', 'integer', 'Minimum number of workers of this type.', {
    minimum: 0,
    default: '0',
    example: 1,
  }),
  key('available_node_types.<type>.max_workers', 'integer', 'Maximum number of workers of this type.', {
    minimum: 0,
    default: "the cluster's max_workers; 0 for the head's type",
    example: 10,
  }),
  key(
    'available_node_types.<type>.idle_timeout_s',
    'number',
    'Seconds without work after which a worker of this type is terminated.',
    {
      minimum: 0,
      nullable: true,
      default: 'idle_timeout_minutes',
      example: 600,
    },
  ),
  key(
    'available_node_types.<type>.priority',
    'integer',
    'Among types that fit a demand equally well, the one with the higher priority is launched.',
    { default: '0', example: 10 },
  ),
  key('available_node_types.<type>.labels', 'named', 'Labels of the nodes, for label selectors.', {
    default: '{}',
    example: { 'market-type': 'spot' },
  }),
  key('available_node_types.<type>.labels.<name>', 'string', 'Value of one label.', { example: 'spot' }),
  key(
    'available_node_types.<type>.initialization_commands',
    'commands',
    "Replaces the cluster's for workers of this type.",
    { ...commands, default: "the cluster's", example: ['nvidia-smi'] },
  ),
  key(
    'available_node_types.<type>.worker_setup_commands',
    'commands',
    "Replaces the cluster's setup_commands and worker_setup_commands for workers of this type.",
    { ...commands, default: "the cluster's", example: ['pip install torch'] },
  ),
  key('available_node_types.<type>.docker', 'section', "Replaces the cluster's for workers of this type.", {
    default: "the cluster's",
  }),
  key('available_node_types.<type>.docker.pull_before_run', 'boolean', 'Pull the image even if a copy exists.', {
    default: "the cluster's",
    example: false,
  }),
  key('available_node_types.<type>.docker.worker_image', 'string', 'Image for workers of this type.', {
    default: "the cluster's",
    example: `rayproject/ray:${rayVersion}-gpu`,
  }),
  key('available_node_types.<type>.docker.worker_run_options', 'list', "Replaces the cluster's worker_run_options.", {
    shell: true,
    default: "the cluster's",
    example: ['--gpus all'],
  }),
];
