import { defineEvent } from '../base/events.ts';

/** What happens between a command and the cluster it talks to. */
export const clientEvents = {
  overridden: defineEvent<{ variable: string; address: string; flag: string }>({
    code: 'MANTA_CLIENT_ADDRESS_OVERRIDDEN',
    level: 'warn',
    text: (e) => `${e.variable}=${e.address} overrides --address ${e.flag}, as in ray; unset it to use the option`,
  }),
  lost: defineEvent<{ address: string; why: string }>({
    code: 'MANTA_CLIENT_LOST',
    level: 'warn',
    text: (e) => `lost the connection (${e.why}); reconnecting`,
  }),
  podLost: defineEvent<{ port: number; why: string }>({
    code: 'MANTA_CLIENT_POD_LOST',
    level: 'warn',
    text: (e) =>
      `a connection to port ${e.port} did not reach the head pod (${e.why}); the next one looks for it again`,
  }),
  raysOwnJobs: defineEvent<{ cluster: string }>({
    code: 'MANTA_CLIENT_RAYS_OWN_JOBS',
    level: 'info',
    text: (e) => `${e.cluster} runs without mantad: this is Ray's own jobs API, without Manta's queue and retries`,
  }),
  back: defineEvent<{ address: string; seconds: number }>({
    code: 'MANTA_CLIENT_BACK',
    level: 'info',
    text: (e) => `reconnected after ${e.seconds} s`,
  }),
  startedThere: defineEvent<{ host: string }>({
    code: 'MANTA_CLIENT_STARTED_THERE',
    level: 'warn',
    text: (e) => `mantad was not running on ${e.host} and was started; nothing there starts it after a reboot`,
  }),
  waitsForHead: defineEvent<{ cluster: string }>({
    code: 'MANTA_CLIENT_WAITS_FOR_HEAD',
    level: 'info',
    text: (e) => `waiting for the head of cluster '${e.cluster}' to restart`,
  }),
  skew: defineEvent<{ cluster: string; head: string; client: string; newer: 'head' | 'client' }>({
    code: 'MANTA_CLIENT_VERSION_SKEW',
    level: 'warn',
    text: (e) =>
      e.newer === 'client'
        ? `the cluster '${e.cluster}' runs Manta ${e.head}, older than ${e.client} here; 'manta up' upgrades it`
        : `the cluster '${e.cluster}' runs Manta ${e.head}, newer than ${e.client} here; upgrade Manta on this machine`,
  }),
  packaging: defineEvent<{ path: string }>({
    code: 'MANTA_CLIENT_PACKAGING',
    level: 'info',
    text: (e) => `packaging ${e.path}`,
  }),
  leftOut: defineEvent<{ path: string; names: string }>({
    code: 'MANTA_CLIENT_LEFT_OUT',
    level: 'warn',
    text: (e) => `left out of ${e.path} (broken links or special files): ${e.names}`,
  }),
  uploading: defineEvent<{ path: string; size: string }>({
    code: 'MANTA_CLIENT_UPLOADING',
    level: 'info',
    text: (e) => `uploading ${e.path} (${e.size})`,
  }),
  uploaded: defineEvent<{ path: string; files: number; size: string }>({
    code: 'MANTA_CLIENT_UPLOADED',
    level: 'info',
    text: (e) => `uploaded ${e.path}: ${e.files} files, ${e.size}`,
  }),
  alreadyThere: defineEvent<{ path: string; files: number }>({
    code: 'MANTA_CLIENT_ALREADY_THERE',
    level: 'info',
    text: (e) => `${e.path} is already on the head (${e.files} files); nothing to upload`,
  }),
  outputGap: defineEvent<{ bytes: number }>({
    code: 'MANTA_CLIENT_OUTPUT_GAP',
    level: 'warn',
    text: (e) => `${e.bytes} bytes of output are no longer available`,
  }),
  serveWaits: defineEvent<{ cluster: string; says: string; cause?: string }>({
    code: 'MANTA_SERVE_WAITING',
    level: 'info',
    text: (e) => `Serve on ${e.cluster}: ${e.says}${e.cause === undefined ? '' : `; ${e.cause}`}`,
  }),
  serveOnLoopback: defineEvent<{ cluster: string }>({
    code: 'MANTA_SERVE_LOOPBACK',
    level: 'info',
    text: (e) =>
      `Serve on ${e.cluster} listens on 127.0.0.1: the config names no http_options.host, and 0.0.0.0 would be open to the network`,
  }),
};
