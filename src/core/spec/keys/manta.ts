import { type Key, key } from './key.ts';

const own = { manta: true } as const;

/** Manta's own keys stand under `provider`, where Ray lets unknown keys pass: every Manta file stays a Ray file. */
export const mantaKeys: readonly Key[] = [
  key('provider.manta', 'section', "Manta's own keys; Ray passes over them.", own),
  key(
    'provider.manta.node_types',
    'named',
    'What Manta should know of a node type beyond what Ray asks; names as in available_node_types.',
    {
      ...own,
      example: { worker: { price: 0.384, spot_price: 0.15, market: ['spot', 'on-demand'] } },
    },
  ),
  key('provider.manta.node_types.<type>', 'section', 'One node type.', own),
  key(
    'provider.manta.node_types.<type>.price',
    'number',
    'Price of an instance per hour, on demand. Among types that fit, the cheaper one is launched.',
    { ...own, minimum: 0, example: 0.384 },
  ),
  key('provider.manta.node_types.<type>.spot_price', 'number', 'Price of an instance per hour on the spot market.', {
    ...own,
    minimum: 0,
    example: 0.15,
  }),
  key(
    'provider.manta.node_types.<type>.market',
    'any',
    'Markets to ask, in order: on-demand, spot, or a list of both to fall through.',
    {
      ...own,
      choices: ['on-demand', 'spot'],
      default: 'what node_config says',
      example: ['spot', 'on-demand'],
    },
  ),
  key('provider.manta.node_types.<type>.zones', 'texts', 'Zones to ask, in order.', {
    ...own,
    default: 'provider.availability_zone',
    example: ['us-west-2a', 'us-west-2b'],
  }),
  key(
    'provider.manta.node_types.<type>.hosts_per_slice',
    'integer',
    'Hosts that live and end together, such as those of a TPU pod slice.',
    {
      ...own,
      minimum: 1,
      default: '1; on gcp from acceleratorType',
      example: 8,
    },
  ),
  key(
    'provider.manta.node_types.<type>.initial_workers',
    'integer',
    'Workers to start with when the cluster is made; they end when idle.',
    { ...own, minimum: 0, default: 'min_workers', example: 4 },
  ),
  key(
    'provider.manta.faults',
    'list',
    'What goes wrong on request, to see how the cluster bears it. Rules of type, times, refuse (no-capacity, quota, throttled, denied), capacity, lose_answer, boot_delay_s, hang, vanish_after_s, preempt_after_s, preempt_notice_s.',
    { ...own, providers: ['process'], example: [{ type: 'worker', times: 1, boot_delay_s: 20 }] },
  ),
];
