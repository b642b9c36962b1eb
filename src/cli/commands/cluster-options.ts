import type { Option } from '../command.ts';

/** Which cluster a command speaks to; the first three as `ray job` has them. */
export const connectionOptions: readonly Option[] = [
  {
    name: 'address',
    value: 'URL',
    summary: 'HTTP address of the head; RAY_API_SERVER_ADDRESS and RAY_ADDRESS win over it, as with ray',
  },
  { name: 'verify', value: 'BOOL|PATH', summary: 'check TLS certificates, against those in PATH', default: 'true' },
  { name: 'headers', value: 'JSON', summary: 'more headers for each request; also RAY_JOB_HEADERS' },
  {
    name: 'cluster-name',
    short: 'n',
    value: 'NAME',
    summary: 'a cluster of this machine; also MANTA_CLUSTER, default the only one that runs',
  },
];
