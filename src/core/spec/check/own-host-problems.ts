import { error, warning } from '../problems.ts';

/** What can be wrong with the hosts of a local cluster. */
export const ownHostProblems = {
  HostTwice: error<{ host: string; what: string; line: number }>('HOST_TWICE', {
    title: 'a host listed twice',
    meaning: 'A host has one role: head, worker, or member of one pool.',
    hint: 'remove one of the two',
    message: (e) => `host '${e.host}' is already ${e.what} (line ${e.line})`,
  }),
  HeadIsWorker: warning<{ host: string; line: number }>('HEAD_IS_WORKER', {
    title: 'the head of a local cluster among its workers',
    meaning:
      'The head runs work like any other node. As its own worker it would be counted twice; Ray fails with an assertion.',
    hint: 'remove it from worker_ips; `worker_ips: []` is a cluster of one host',
    message: (e) => `host '${e.host}' is the head (line ${e.line}), so it is not counted as a worker`,
  }),
  BadHost: error<{ value: string; why: string }>('BAD_HOST', {
    title: 'an invalid host',
    meaning: 'A host is an IP address, a host name, or a name from ~/.ssh/config.',
    hint: 'write each host as a string; quote an address that YAML reads as a number',
    message: (e) => `host ${e.value} ${e.why}`,
  }),
  BadPort: error<{ port: number }>('BAD_PORT', {
    title: 'an invalid port',
    meaning: 'Ports range from 1 to 65535.',
    hint: 'use the port that SSH listens on there',
    message: (e) => `port ${e.port} is not between 1 and 65535`,
  }),
  UnknownHost: error<{ host: string; nearest?: string | undefined }>('UNKNOWN_HOST', {
    title: 'settings for an unknown host',
    meaning:
      'Each name under provider.manta.hosts must be a host from head_ip, worker_ips or a pool, spelled the same way.',
    hint: 'use a host of the cluster, or remove the entry',
    message: (e) => `provider.manta.hosts has '${e.host}', but this cluster has no such host`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  TwoWaysIn: error<{ host: string }>('TWO_WAYS_IN', {
    title: 'a jump host and a proxy command for one host',
    meaning: 'SSH can use only one of them.',
    hint: 'remove jump or proxy_command',
    message: (e) => `host '${e.host}' has both jump and proxy_command`,
  }),
  PoolName: error<{ pool: string }>('POOL_NAME', {
    title: 'a pool with a reserved name',
    meaning: "A pool's name becomes the name of its node type, and the node type of worker_ips already has this name.",
    hint: 'give the pool another name',
    message: (e) => `a pool cannot be named '${e.pool}': that is the node type of worker_ips`,
  }),
  PoolHosts: error<{ pool: string }>('POOL_HOSTS', {
    title: 'a pool without hosts',
    meaning: 'A pool consists of the hosts it lists.',
    hint: 'add `hosts: [HOST, …]`, or remove the pool',
    message: (e) => `pool '${e.pool}' lists no hosts`,
  }),
  PoolLimit: warning<{ pool: string; key: string; value: number; hosts: number }>('POOL_LIMIT', {
    title: 'a pool with more workers than hosts',
    meaning: 'Each host runs one worker.',
    hint: 'remove the key, or list more hosts',
    message: (e) => `${e.key} of pool '${e.pool}' is ${e.value} but it lists ${e.hosts} hosts: using ${e.hosts}`,
  }),
  Coordinator: warning<{ address: string; without: string }>('LOCAL_COORDINATOR', {
    title: 'a coordinator that hands out hosts',
    meaning:
      "Ray's coordinator is a server that lends hosts to clusters. Manta does not need one: a cluster claims each host on the host itself, so two clusters never get the same one.",
    hint: 'list the shared hosts in every file that may use them: head_ip and worker_ips, or provider.manta.pools with min_workers 0',
    message: (e) => `the coordinator at '${e.address}' is not used${e.without}`,
  }),
  NotOwn: warning<{ key: string; provider: string }>('NOT_OWN_HOSTS', {
    title: 'your own hosts with a cloud provider',
    meaning:
      'provider.manta.pools and provider.manta.hosts describe your own machines; only the provider local reads them.',
    hint: 'remove the key, or use `type: local`',
    message: (e) => `'${e.key}' has no effect with provider '${e.provider}'`,
  }),
};
