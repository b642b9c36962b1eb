import { ownValue } from '../../../base/own-value.ts';
import { tokensSince } from '../../ray-version.ts';
import { type Key, key } from './key.ts';
import { nodeTypeKeys } from './node-types.ts';

const own = { manta: true } as const;
const ownHosts = { manta: true, kinds: ['own-hosts'] } as const;

/** A pool is a node type whose machines are given, and takes what a node type takes. */
const poolDefaults: Readonly<Record<string, string>> = {
  min_workers: 'all of its hosts',
  max_workers: 'all of its hosts',
  resources: 'the resources found on the hosts',
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
  key('provider.manta', 'section', "Manta's own keys; Ray ignores them.", own),
  key('provider.manta.node_types', 'named', 'Extra settings for node types; names as in available_node_types.', {
    ...own,
    example: { worker: { price: 0.384, spot_price: 0.15, market: ['spot', 'on-demand'] } },
  }),
  key('provider.manta.node_types.<type>', 'section', 'One node type.', own),
  key(
    'provider.manta.node_types.<type>.price',
    'number',
    'On-demand price of an instance per hour. Among types that fit, the cheaper one is launched.',
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
    'Markets to try, in order: on-demand, spot, reserved (capacity that is paid for already), or a list of them.',
    {
      ...own,
      choices: ['on-demand', 'spot', 'reserved'],
      default: 'the market in node_config',
      example: ['spot', 'on-demand'],
    },
  ),
  key('provider.manta.node_types.<type>.zones', 'texts', 'Zones to try, in order.', {
    ...own,
    default: 'provider.availability_zone',
    example: ['us-west-2a', 'us-west-2b'],
  }),
  key(
    'provider.manta.node_types.<type>.hosts_per_slice',
    'integer',
    'Number of hosts that launch and terminate together, such as those of a TPU pod slice.',
    {
      ...own,
      minimum: 1,
      default: '1; for a TPU from its acceleratorType',
      example: 8,
    },
  ),
  key(
    'provider.manta.node_types.<type>.allocation_timeout',
    'duration',
    'Give up on a launched instance that is not running after this long, and try the next zone, market or node type.',
    { ...own, default: '15m', example: '45m' },
  ),
  key(
    'provider.manta.node_types.<type>.queued',
    'boolean',
    'Ask for TPU slices by queued resources, which wait until there is room (Google Cloud).',
    { ...own, default: 'false; reserved slices are always queued', example: true },
  ),
  key(
    'provider.manta.node_types.<type>.initial_workers',
    'integer',
    'Workers to start when the cluster is created; they are terminated when idle.',
    { ...own, minimum: 0, default: 'min_workers', example: 4 },
  ),
  key(
    'provider.manta.pools',
    'named',
    'More of your own hosts, in groups; the name of a group is the name of its node type.',
    { ...ownHosts, example: { gpu: { hosts: ['10.0.1.1', '10.0.1.2'], resources: { CPU: 32, GPU: 4 } } } },
  ),
  key('provider.manta.pools.<type>', 'section', 'One group of hosts.', ownHosts),
  key('provider.manta.pools.<type>.hosts', 'list', 'Its hosts: addresses, or names from ~/.ssh/config.', {
    ...ownHosts,
    required: true,
    example: ['10.0.1.1', '10.0.1.2'],
  }),
  ...poolTypeKeys,
  key(
    'provider.manta.hosts',
    'named',
    'How to reach individual hosts, by their name in head_ip, worker_ips or a pool.',
    {
      ...ownHosts,
      example: { '10.0.0.2': { user: 'ray', port: 2222 } },
    },
  ),
  key('provider.manta.hosts.<name>', 'section', 'One host.', ownHosts),
  key('provider.manta.hosts.<name>.user', 'string', 'User to log in as there.', {
    ...ownHosts,
    default: 'auth.ssh_user',
    example: 'ray',
  }),
  key('provider.manta.hosts.<name>.port', 'integer', 'Port of its SSH server.', {
    ...ownHosts,
    minimum: 1,
    default: 'from ~/.ssh/config, or 22',
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
    'Jump host for connections from this machine; the head connects to workers directly.',
    {
      ...ownHosts,
      example: 'me@bastion:2222',
    },
  ),
  key(
    'provider.manta.hosts.<name>.proxy_command',
    'string',
    'ProxyCommand for connections from this machine; the head connects to workers directly.',
    { ...ownHosts, shell: true, default: 'auth.ssh_proxy_command', example: 'ssh -W %h:%p bastion' },
  ),
  key(
    'provider.manta.hosts.<name>.forward_agent',
    'boolean',
    'Forward your SSH agent to sessions on the host. Anyone who runs code there as the same user can then log in as you.',
    { ...ownHosts, default: 'from ~/.ssh/config, or false', example: true },
  ),
  key(
    'provider.manta.allow_no_auth',
    'boolean',
    `Allow a Ray older than ${tokensSince}, which has no token authentication: anyone who can reach its ports can run code.`,
    { ...own, default: 'false', example: true },
  ),
  key(
    'provider.manta.idle',
    'string',
    'economic: terminate idle workers before idle_timeout_minutes if a new one would cost less than waiting. Needs prices.',
    { ...own, choices: ['timeout', 'economic'], default: 'timeout', example: 'economic' },
  ),
  key(
    'provider.manta.idle_shutdown',
    'duration',
    'Shut down the whole cluster, including the head, after this long without running or waiting work.',
    { ...own, default: 'never', example: '30m' },
  ),
  key(
    'provider.manta.max_lifetime',
    'duration',
    'Shut down the whole cluster this long after it started, even if work is running.',
    { ...own, default: 'unlimited', example: '12h' },
  ),
  key(
    'provider.manta.lease',
    'duration',
    'Stop Ray on a worker that has not heard from its head for this long; a cloud machine then powers itself off. At least 10s.',
    { ...own, default: '30m', example: '30m' },
  ),
  key(
    'provider.manta.setup_timeout',
    'duration',
    'Give up on a worker whose setup (files, image and commands) takes longer than this, and terminate its machine.',
    { ...own, default: '30m; less for nodes on this machine', example: '2h' },
  ),
  key(
    'provider.manta.head_policies',
    'texts',
    'Policies, by ARN, to attach to the role that Manta creates for the head on AWS. Without any it can only run the cluster.',
    { ...own, kinds: ['cloud'], default: 'none', example: ['arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess'] },
  ),
  key(
    'provider.manta.engine',
    'string',
    'Engine for a cluster on this machine: embedded, which needs only Manta, or ray, which runs real raylets.',
    { ...own, kinds: ['this-machine'], choices: ['embedded', 'ray'], default: 'embedded', example: 'ray' },
  ),
  key(
    'provider.manta.faults',
    'list',
    'Faults to inject, to test how the cluster handles them. Rules have type, times, refuse (no-capacity, quota, throttled, denied), capacity, lose_answer, boot_delay_s, hang, vanish_after_s, preempt_after_s, preempt_notice_s.',
    { ...own, kinds: ['this-machine'], example: [{ type: 'worker', times: 1, boot_delay_s: 20 }] },
  ),
];
