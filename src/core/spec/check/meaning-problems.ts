import { error, listed, warning } from '../problems.ts';

/** What a well-formed file can get wrong in what it says. */
export const meaningProblems = {
  ProviderUnknown: error<{ type: string; nearest?: string | undefined; known: readonly string[] }>('PROVIDER_UNKNOWN', {
    title: 'unknown provider',
    meaning: 'Neither Ray nor Manta has a provider with this name.',
    hint: 'for your own provider, use `type: external` with `module: package.module.Class`',
    message: (e) => `unknown provider '${e.type}'`,
    advise: (e) =>
      e.nearest === undefined
        ? `known: ${e.known.join(', ')}; for your own provider, use \`type: external\` with \`module: package.module.Class\``
        : `did you mean '${e.nearest}'?`,
  }),
  ProviderRemoved: error<{ type: string; what: string; instead: string }>('PROVIDER_REMOVED', {
    title: 'a provider that no longer exists',
    meaning: 'The provider was once part of Ray, or of a fork of it, and no longer exists.',
    hint: 'move the cluster to a current provider',
    message: (e) => `provider '${e.type}' no longer exists: ${e.what}`,
    advise: (e) => e.instead,
  }),
  HeadTypeMissing: error<{ types: readonly string[]; expected: string }>('HEAD_TYPE_MISSING', {
    title: 'no node type for the head',
    meaning: 'The file lists node types but does not say which one is for the head.',
    hint: 'set head_node_type to one of available_node_types',
    message: (e) => `head_node_type is missing, and there is no node type with the default name '${e.expected}'`,
    advise: (e) =>
      e.types.length === 0
        ? undefined
        : `add \`head_node_type: ${e.types[0]}\`${e.types.length > 1 ? `, or one of ${e.types.slice(1, 6).join(', ')}` : ''}`,
  }),
  UnknownHeadType: error<{ type: string; types: readonly string[]; nearest?: string | undefined }>(
    'UNKNOWN_HEAD_TYPE',
    {
      title: 'head_node_type is not one of available_node_types',
      meaning: "The head's type must be one of the node types in the file.",
      hint: 'use one of available_node_types',
      message: (e) => `head_node_type '${e.type}' is not one of available_node_types`,
      advise: (e) => (e.nearest === undefined ? `known: ${listed(e.types)}` : `did you mean '${e.nearest}'?`),
    },
  ),
  UnknownType: error<{ type: string; key: string; types: readonly string[]; nearest?: string | undefined }>(
    'UNKNOWN_TYPE',
    {
      title: 'unknown node type',
      meaning: 'A key names a node type that is not in available_node_types.',
      hint: 'use one of available_node_types',
      message: (e) => `${e.key} names the node type '${e.type}', which is not one of available_node_types`,
      advise: (e) => (e.nearest === undefined ? `known: ${listed(e.types)}` : `did you mean '${e.nearest}'?`),
    },
  ),
  MinAboveMax: warning<{ type: string; min: number; max: number; implied: string }>('MIN_ABOVE_MAX', {
    title: 'min_workers above max_workers',
    meaning: 'min_workers of a node type is above its max_workers. As in Ray, the limit wins.',
    hint: "raise the type's max_workers, or lower its min_workers",
    message: (e) =>
      `node type '${e.type}' has min_workers ${e.min} above its max_workers ${e.max}${e.implied}: only ${e.max} will run`,
  }),
  MinSumAboveMax: error<{ sum: number; max: number; parts: string; implied: string }>('MIN_SUM_ABOVE_MAX', {
    title: 'more minimum workers than max_workers allows',
    meaning: "The min_workers of all node types add up to more than the cluster's max_workers.",
    hint: 'raise max_workers, or lower some min_workers',
    message: (e) => `min_workers add up to ${e.sum} (${e.parts}), above max_workers ${e.max}${e.implied}`,
    advise: (e) => `set max_workers to ${e.sum} or more, or lower some min_workers`,
  }),
  LocalHosts: error<{ missing: string }>('LOCAL_HOSTS', {
    title: 'a local cluster without hosts',
    meaning: 'A local cluster needs head_ip and worker_ips.',
    hint: 'add `head_ip: HOST` and `worker_ips: [HOST, …]` under provider; `worker_ips: []` for a cluster of one host',
    message: (e) => `a local cluster needs ${e.missing}`,
  }),
  LocalNodeTypes: error<{ key: string }>('LOCAL_NODE_TYPES', {
    title: 'node types on a local cluster',
    meaning: 'A local cluster runs on the hosts it lists, so it has no node types to choose from.',
    hint: 'remove the key: every host in worker_ips becomes a worker; put hosts that need their own type under provider.manta.pools',
    message: (e) => `a local cluster cannot have '${e.key}'`,
  }),
  LocalLimit: warning<{ key: string; value: number; hosts: number; pools: boolean; effect: string }>('LOCAL_LIMIT', {
    title: 'a worker limit that does not match the hosts',
    meaning: 'On a local cluster every host in worker_ips becomes a worker, unless max_workers is lower.',
    hint: 'remove min_workers and max_workers to use the number of hosts',
    message: (e) =>
      `${e.key} is ${e.value} but worker_ips ${e.pools ? 'and pools list' : 'lists'} ${e.hosts} hosts: ${e.effect}`,
  }),
  DockerIncomplete: error<{ has: string; missing: string }>('DOCKER_INCOMPLETE', {
    title: 'a container without image or name',
    meaning: 'Running in a container needs both an image and a container_name.',
    hint: 'set both, or neither to run on the host',
    message: (e) => `docker has ${e.has} but no ${e.missing}`,
    advise: (e) =>
      e.missing === 'container_name'
        ? 'add `container_name: ray_container`'
        : 'add `image: NAME`, or remove container_name to run on the host',
  }),
  ProxyWithoutCommand: error<Record<string, never>>('PROXY_WITHOUT_COMMAND', {
    title: 'ssh_proxy_use_node_id without ssh_proxy_command',
    meaning: 'The node id is passed to the proxy command, but there is no proxy command.',
    hint: 'add auth.ssh_proxy_command',
    message: () => 'ssh_proxy_use_node_id needs ssh_proxy_command',
  }),
};
