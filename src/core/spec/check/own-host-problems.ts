import { error, warning } from '../problems.ts';

/** What can be wrong with the hosts of a local cluster. */
export const ownHostProblems = {
  HostTwice: error<{ host: string; what: string; line: number }>('HOST_TWICE', {
    title: 'one host in two places of a local cluster',
    meaning: 'A host has one role: head, worker, or member of one pool.',
    hint: 'remove one of the two',
    message: (e) => `host '${e.host}' is ${e.what} already (line ${e.line})`,
  }),
  HeadIsWorker: warning<{ host: string; line: number }>('HEAD_IS_WORKER', {
    title: 'the head of a local cluster among its workers',
    meaning:
      'The head runs work as every node does. As a worker of itself it would be counted twice; Ray ends with an assertion.',
    hint: 'remove it from worker_ips; `worker_ips: []` is a cluster of one host',
    message: (e) => `host '${e.host}' is the head (line ${e.line}) and is not counted as a worker`,
  }),
  BadHost: error<{ value: string; why: string }>('BAD_HOST', {
    title: 'a host that cannot be an address',
    meaning: 'A host is an IP address, a host name, or a name of ~/.ssh/config.',
    hint: 'write each host as a text; quote an address that YAML takes for a number',
    message: (e) => `host ${e.value} ${e.why}`,
  }),
  BadPort: error<{ port: number }>('BAD_PORT', {
    title: 'a port that does not exist',
    meaning: 'Ports go from 1 to 65535.',
    hint: 'give the port on which SSH listens there',
    message: (e) => `port ${e.port} does not exist`,
  }),
  UnknownHost: error<{ host: string; nearest?: string | undefined }>('UNKNOWN_HOST', {
    title: 'settings for a host that the cluster does not have',
    meaning: 'Each name under provider.manta.hosts is a host of head_ip, worker_ips or a pool, written as there.',
    hint: 'name a host of the cluster, or remove the entry',
    message: (e) => `provider.manta.hosts has '${e.host}', which is no host of this cluster`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  TwoWaysIn: error<{ host: string }>('TWO_WAYS_IN', {
    title: 'a jump host and a proxy command for one host',
    meaning: 'SSH goes through the one or the other.',
    hint: 'remove jump or proxy_command',
    message: (e) => `host '${e.host}' has both jump and proxy_command`,
  }),
  PoolName: error<{ pool: string }>('POOL_NAME', {
    title: 'a pool with the name of the type of worker_ips',
    meaning: "A pool's name is the name of its node type, and this one is taken.",
    hint: 'give the pool another name',
    message: (e) => `a pool cannot be called '${e.pool}': that is the type of worker_ips`,
  }),
  PoolHosts: error<{ pool: string }>('POOL_HOSTS', {
    title: 'a pool without hosts',
    meaning: 'The machines of a pool are those that it lists.',
    hint: 'add `hosts: [HOST, …]`, or remove the pool',
    message: (e) => `pool '${e.pool}' lists no hosts`,
  }),
  PoolLimit: warning<{ pool: string; key: string; value: number; hosts: number }>('POOL_LIMIT', {
    title: 'a pool that is to have more workers than hosts',
    meaning: 'A host is one worker.',
    hint: 'remove the key, or list more hosts',
    message: (e) => `${e.key} of pool '${e.pool}' is ${e.value} and it lists ${e.hosts} hosts: ${e.hosts} is used`,
  }),
  Coordinator: warning<{ address: string; without: string }>('LOCAL_COORDINATOR', {
    title: 'a coordinator that hands out hosts',
    meaning:
      "Ray's coordinator is a server that lends hosts to clusters. Manta needs none: a cluster claims each host on the host itself, and two clusters never get the same one.",
    hint: 'list the shared hosts in every file that may use them: head_ip and worker_ips, or provider.manta.pools with min_workers 0',
    message: (e) => `the coordinator at '${e.address}' is not asked${e.without}`,
  }),
  NotOwn: warning<{ key: string; provider: string }>('NOT_OWN_HOSTS', {
    title: 'own hosts on a cloud',
    meaning:
      'provider.manta.pools and provider.manta.hosts describe machines of your own; only provider local reads them.',
    hint: 'remove the key, or use `type: local`',
    message: (e) => `'${e.key}' has no effect with provider '${e.provider}'`,
  }),
};
