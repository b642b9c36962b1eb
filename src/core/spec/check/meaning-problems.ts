import { error, listed, warning } from '../problems.ts';

/** What a well-formed file can get wrong in what it says. */
export const meaningProblems = {
  ProviderUnknown: error<{ type: string; nearest?: string | undefined; known: readonly string[] }>('PROVIDER_UNKNOWN', {
    title: 'a provider that does not exist',
    meaning: 'Neither Ray nor Manta has a provider of this name.',
    hint: 'a provider of your own is written as `type: external` with `module: package.module.Class`',
    message: (e) => `unknown provider '${e.type}'`,
    advise: (e) =>
      e.nearest === undefined
        ? `known: ${e.known.join(', ')}; a provider of your own is \`type: external\` with \`module: package.module.Class\``
        : `did you mean '${e.nearest}'?`,
  }),
  ProviderRemoved: error<{ type: string; what: string; instead: string }>('PROVIDER_REMOVED', {
    title: 'a provider that is gone',
    meaning: 'The provider was once part of Ray, or of a fork of it, and no longer exists.',
    hint: 'move the cluster to a provider of today',
    message: (e) => `provider '${e.type}' is gone: ${e.what}`,
    advise: (e) => e.instead,
  }),
  HeadTypeMissing: error<{ types: readonly string[]; expected: string }>('HEAD_TYPE_MISSING', {
    title: 'no node type for the head',
    meaning: 'The file lists node types and does not say which one the head has.',
    hint: 'add head_node_type with the name of one of available_node_types',
    message: (e) => `head_node_type is missing, and no node type is called '${e.expected}', which would be the default`,
    advise: (e) =>
      e.types.length === 0
        ? undefined
        : `add \`head_node_type: ${e.types[0]}\`${e.types.length > 1 ? `, or another of ${e.types.slice(1, 6).join(', ')}` : ''}`,
  }),
  UnknownHeadType: error<{ type: string; types: readonly string[]; nearest?: string | undefined }>(
    'UNKNOWN_HEAD_TYPE',
    {
      title: 'head_node_type is not one of available_node_types',
      meaning: 'The head must have one of the node types that the file lists.',
      hint: 'name one of available_node_types',
      message: (e) => `head_node_type '${e.type}' is not one of available_node_types`,
      advise: (e) => (e.nearest === undefined ? `they are: ${listed(e.types)}` : `did you mean '${e.nearest}'?`),
    },
  ),
  UnknownType: error<{ type: string; key: string; types: readonly string[]; nearest?: string | undefined }>(
    'UNKNOWN_TYPE',
    {
      title: 'a node type that is not listed',
      meaning: 'A key names a node type that available_node_types does not have.',
      hint: 'name one of available_node_types',
      message: (e) => `${e.key} names the node type '${e.type}', which is not one of available_node_types`,
      advise: (e) => (e.nearest === undefined ? `they are: ${listed(e.types)}` : `did you mean '${e.nearest}'?`),
    },
  ),
  MinAboveMax: warning<{ type: string; min: number; max: number; implied: string }>('MIN_ABOVE_MAX', {
    title: 'min_workers above max_workers',
    meaning: 'A node type asks for more workers than it allows. As in Ray, the limit wins.',
    hint: 'raise max_workers of the type, or lower its min_workers',
    message: (e) =>
      `node type '${e.type}' has min_workers ${e.min} above its max_workers ${e.max}${e.implied}: only ${e.max} will run`,
  }),
  MinSumAboveMax: error<{ sum: number; max: number; parts: string; implied: string }>('MIN_SUM_ABOVE_MAX', {
    title: 'more minimum workers than max_workers allows',
    meaning: 'The min_workers of all node types add up to more than max_workers of the cluster.',
    hint: 'raise max_workers, or lower some min_workers',
    message: (e) => `min_workers add up to ${e.sum} (${e.parts}), above max_workers ${e.max}${e.implied}`,
    advise: (e) => `set max_workers to ${e.sum} or more, or lower some min_workers`,
  }),
  LocalHosts: error<{ missing: string }>('LOCAL_HOSTS', {
    title: 'a local cluster without its hosts',
    meaning: 'A local cluster needs head_ip and worker_ips.',
    hint: 'add `head_ip: HOST` and `worker_ips: [HOST, …]` under provider; `worker_ips: []` for a cluster of one host',
    message: (e) => `a local cluster needs ${e.missing}`,
  }),
  LocalNodeTypes: error<{ key: string }>('LOCAL_NODE_TYPES', {
    title: 'node types on a local cluster',
    meaning: 'The hosts of a local cluster are given; there is nothing to choose from.',
    hint: 'remove the key: every host of worker_ips becomes a worker; hosts with a type of their own stand under provider.manta.pools',
    message: (e) => `'${e.key}' has no place in a local cluster`,
  }),
  LocalLimit: warning<{ key: string; value: number; hosts: number; pools: boolean; effect: string }>('LOCAL_LIMIT', {
    title: 'a worker limit that does not match the hosts',
    meaning: 'On a local cluster every host of worker_ips becomes a worker, unless max_workers is lower.',
    hint: 'remove min_workers and max_workers: the number of hosts is used',
    message: (e) =>
      `${e.key} is ${e.value} and worker_ips ${e.pools ? 'and pools list' : 'lists'} ${e.hosts} hosts: ${e.effect}`,
  }),
  DockerIncomplete: error<{ has: string; missing: string }>('DOCKER_INCOMPLETE', {
    title: 'a container without image or name',
    meaning: 'Running in a container needs both an image and a container_name.',
    hint: 'give both, or neither to run on the host',
    message: (e) => `docker has ${e.has} and no ${e.missing}`,
    advise: (e) =>
      e.missing === 'container_name'
        ? 'add `container_name: ray_container`'
        : 'add `image: NAME`, or remove container_name to run on the host',
  }),
  ProxyWithoutCommand: error<Record<string, never>>('PROXY_WITHOUT_COMMAND', {
    title: 'ssh_proxy_use_node_id without ssh_proxy_command',
    meaning: 'The id is given to the proxy command, and there is none.',
    hint: 'add auth.ssh_proxy_command',
    message: () => 'ssh_proxy_use_node_id needs ssh_proxy_command',
  }),
};
