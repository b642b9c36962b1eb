import { type Key, key } from './key.ts';

/** The keys under `provider` that mean the same for every provider; `types` are those there are. */
export const providerKeys = (types: readonly string[]): readonly Key[] => [
  key('provider.type', 'string', `Which provider: ${types.join(', ')}.`, { required: true, example: 'aws' }),
  key('provider.use_internal_ips', 'boolean', 'Reach the instances by their internal addresses.', {
    default: 'false',
    example: true,
  }),
  key(
    'provider.use_external_head_ip',
    'boolean',
    'With use_internal_ips: reach the head from outside by its public address.',
    { nullable: true, default: 'false', example: true },
  ),
  key('provider.disable_node_updaters', 'boolean', 'Run nothing on the nodes: they set themselves up.', {
    default: 'false',
    example: false,
  }),
  key(
    'provider.disable_launch_config_check',
    'boolean',
    'If false, terminate workers whose launch configuration is out of date.',
    {
      nullable: true,
      default: 'true',
      example: false,
    },
  ),
  key('provider.foreground_node_launch', 'boolean', 'Launch one call at a time.', {
    nullable: true,
    default: 'false',
    example: false,
  }),
  key('provider.worker_liveness_check', 'boolean', 'Restart Ray on workers that stop responding.', {
    nullable: true,
    default: 'true',
    example: true,
  }),
];
