import { ownValue } from '../../../base/own-value.ts';
import { tokensSince } from '../../ray-version.ts';
import { type Key, key } from './key.ts';
import { nodeTypeKeys } from './node-types.ts';

const own = { manta: true } as const;
const ownHosts = { manta: true, providers: ['local'] } as const;

/** A pool is a node type whose machines are given, and takes what a node type takes. */
const poolDefaults: Readonly<Record<string, string>> = {
  min_workers: 'all of its hosts',
  max_workers: 'all of its hosts',
  resources: 'what is found on the hosts',
};
const typePrefix = 'available_node_types.<type>.';
const poolTypeKeys: readonly Key[] = nodeTypeKeys
  .filter(({ path }) => path.startsWith(typePrefix) && path !== `${typePrefix}node_config`)
  .map((each) => {
    const name = each.path.slice(typePrefix.length);
    const preset = ownValue(poolDefaults, name) ?? each.default;
    return {
      ...each,
      ...ownHosts,
      path: `provider.manta.pools.<type>.${name}`,
      ...(preset === undefined ? {} : { default: preset }),
    };
  });

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
    'provider.manta.pools',
    'named',
    'Further hosts of your own, in groups; the name of each is that of its node type.',
    { ...ownHosts, example: { gpu: { hosts: ['10.0.1.1', '10.0.1.2'], resources: { CPU: 32, GPU: 4 } } } },
  ),
  key('provider.manta.pools.<type>', 'section', 'One group of hosts.', ownHosts),
  key('provider.manta.pools.<type>.hosts', 'list', 'Its hosts: addresses, or names of ~/.ssh/config.', {
    ...ownHosts,
    required: true,
    example: ['10.0.1.1', '10.0.1.2'],
  }),
  ...poolTypeKeys,
  key('provider.manta.hosts', 'named', 'How to reach single hosts, by their name in head_ip, worker_ips or a pool.', {
    ...ownHosts,
    example: { '10.0.0.2': { user: 'ray', port: 2222 } },
  }),
  key('provider.manta.hosts.<name>', 'section', 'One host.', ownHosts),
  key('provider.manta.hosts.<name>.user', 'string', 'User to log in as there.', {
    ...ownHosts,
    default: 'auth.ssh_user',
    example: 'ray',
  }),
  key('provider.manta.hosts.<name>.port', 'integer', 'Port of its SSH server.', {
    ...ownHosts,
    minimum: 1,
    default: 'what ~/.ssh/config says, or 22',
    example: 2222,
  }),
  key('provider.manta.hosts.<name>.key', 'string', 'Path of the private key.', {
    ...ownHosts,
    default: 'auth.ssh_private_key',
    example: '~/.ssh/lab',
  }),
  key(
    'provider.manta.hosts.<name>.jump',
    'string',
    'Host to jump through from here; the head reaches workers without.',
    {
      ...ownHosts,
      example: 'me@bastion:2222',
    },
  ),
  key(
    'provider.manta.hosts.<name>.proxy_command',
    'string',
    'Command for ssh to reach it through from here (ProxyCommand); the head reaches workers without.',
    { ...ownHosts, shell: true, default: 'auth.ssh_proxy_command', example: 'ssh -W %h:%p bastion' },
  ),
  key(
    'provider.manta.hosts.<name>.forward_agent',
    'boolean',
    'Let sessions from here use your SSH agent there. Whoever runs code on the host as the same user can then sign in as you.',
    { ...ownHosts, default: 'what ~/.ssh/config says, or false', example: true },
  ),
  key(
    'provider.manta.allow_no_auth',
    'boolean',
    `Start a Ray that is older than ${tokensSince}, which cannot ask for a token: whoever reaches its ports may run anything.`,
    { ...own, default: 'false', example: true },
  ),
  key(
    'provider.manta.idle_shutdown',
    'duration',
    'End the whole cluster, head included, when nothing has run or waited for so long.',
    { ...own, default: 'never', example: '30m' },
  ),
  key(
    'provider.manta.max_lifetime',
    'duration',
    'End the whole cluster this long after it was started, whatever runs in it.',
    { ...own, default: 'unlimited', example: '12h' },
  ),
  key(
    'provider.manta.lease',
    'duration',
    'End Ray on a worker that has not heard of its head for so long; a machine of a cloud then ends itself. At least 10s.',
    { ...own, default: '30m', example: '30m' },
  ),
  key(
    'provider.manta.setup_timeout',
    'duration',
    'Give up a worker that is not set up within so long, its files, image and commands included, and end its machine.',
    { ...own, default: '30m; less for nodes on this machine', example: '2h' },
  ),
  key(
    'provider.manta.engine',
    'string',
    'What runs the work on this machine: embedded, which needs nothing but Manta, or a real Ray, whose raylets are the instances.',
    { ...own, providers: ['process'], choices: ['embedded', 'ray'], default: 'embedded', example: 'ray' },
  ),
  key(
    'provider.manta.faults',
    'list',
    'What goes wrong on request, to see how the cluster bears it. Rules of type, times, refuse (no-capacity, quota, throttled, denied), capacity, lose_answer, boot_delay_s, hang, vanish_after_s, preempt_after_s, preempt_notice_s.',
    { ...own, providers: ['process'], example: [{ type: 'worker', times: 1, boot_delay_s: 20 }] },
  ),
];
