import { defineEvent } from '../base/events.ts';

/** What mantad reports. */
export const headEvents = {
  started: defineEvent<{ version: string; pid: number; url: string; adopted: number }>({
    code: 'MANTA_HEAD_STARTED',
    level: 'info',
    text: (e) =>
      `mantad ${e.version} is serving ${e.url}${e.adopted > 0 ? `; adopted ${e.adopted} running instances` : ''}`,
  }),
  portTaken: defineEvent<{ port: number; url: string }>({
    code: 'MANTA_HEAD_PORT_TAKEN_BY_ANOTHER',
    level: 'warn',
    text: (e) =>
      `another program on the head uses port ${e.port} of localhost (127.0.0.1 or ::1), so mantad serves ${e.url}; anyone who connects to localhost:${e.port} there sends that program their token`,
  }),
  ending: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_ENDING',
    level: 'info',
    text: (e) => `mantad is shutting down: ${e.why}`,
  }),
  specChanged: defineEvent<{ file: string }>({
    code: 'MANTA_HEAD_SPEC_CHANGED',
    level: 'info',
    text: (e) => `applied the cluster file: ${e.file}`,
  }),
  repaired: defineEvent<{ damage: string; detail: string }>({
    code: 'MANTA_HEAD_JOURNAL_REPAIRED',
    level: 'error',
    text: (e) => `the journal was damaged (${e.damage}) and was repaired: ${e.detail}`,
  }),
  headTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_NODE_TROUBLE',
    level: 'warn',
    text: (e) => `could not start the head node: ${e.detail}`,
  }),
  rayGone: defineEvent<{ address: string }>({
    code: 'MANTA_HEAD_RAY_GONE',
    level: 'warn',
    text: (e) => `Ray on the head (${e.address}) died, and its jobs with it; restarting it`,
  }),
  rayNodeGone: defineEvent<{ address: string }>({
    code: 'MANTA_HEAD_RAY_NODE_GONE',
    level: 'warn',
    text: (e) =>
      `Ray's node on the head (${e.address}) died, so no job can start; Ray restarts as soon as all workers are idle`,
  }),
  nodeSuspect: defineEvent<{ instance: string; type: string; why: string }>({
    code: 'MANTA_HEAD_NODE_SUSPECT',
    level: 'warn',
    text: (e) =>
      `${e.instance} (${e.type}) may be dead: ${e.why}; it is replaced once Ray or its provider confirms this`,
  }),
  nodeBack: defineEvent<{ instance: string; type: string }>({
    code: 'MANTA_HEAD_NODE_BACK',
    level: 'info',
    text: (e) => `${e.instance} (${e.type}) is responding again`,
  }),
  filesChanged: defineEvent<{ mounts: number }>({
    code: 'MANTA_HEAD_FILES_CHANGED',
    level: 'info',
    text: (e) =>
      `files changed in ${e.mounts} ${e.mounts === 1 ? 'mount' : 'mounts'}: copying them to every worker and running its setup commands again`,
  }),
  filesTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_FILES_TROUBLE',
    level: 'warn',
    text: (e) => `could not copy changed files to every worker: ${e.detail}`,
  }),
  filesKeptBack: defineEvent<{ nodes: readonly string[] }>({
    code: 'MANTA_HEAD_FILES_KEPT_BACK',
    level: 'info',
    text: (e) =>
      `changed files were not copied to ${e.nodes.join(', ')}: containers with other options or mounts run there; their replacements get the files`,
  }),
  packageNotCarried: defineEvent<{ node: string; detail: string }>({
    code: 'MANTA_HEAD_PACKAGE_NOT_CARRIED',
    level: 'warn',
    text: (e) => `could not copy a large package to ${e.node}; jobs that need it fail there: ${e.detail}`,
  }),
  backupFailed: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_BACKUP_FAILED',
    level: 'warn',
    text: (e) => `could not back up the journal: ${e.detail}`,
  }),
  infeasible: defineEvent<{ text: string }>({
    code: 'MANTA_HEAD_INFEASIBLE',
    level: 'warn',
    text: (e) => e.text,
  }),
  turnOffSoon: defineEvent<{ at: number; left: string; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_SOON',
    level: 'warn',
    text: (e) => `the cluster shuts itself down in ${e.left}: ${e.why}; 'manta extend' keeps it longer`,
  }),
  extended: defineEvent<{ until: string }>({
    code: 'MANTA_HEAD_EXTENDED',
    level: 'info',
    text: (e) => `the cluster stays up at least until ${e.until}`,
  }),
  turningOff: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_TURNING_OFF',
    level: 'warn',
    text: (e) => `the cluster is shutting itself down: ${e.why}`,
  }),
  turnOffLeft: defineEvent<{ host: string; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_LEFT',
    level: 'error',
    text: (e) => `could not clean up ${e.host}: ${e.why}; Ray stops there when its lease expires`,
  }),
  turnOffStays: defineEvent<{ hosts: readonly string[]; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_STAYS',
    level: 'error',
    text: (e) =>
      `could not terminate ${e.hosts.join(', ')}: ${e.why}; the head stays up and retries for up to an hour, and they stop when their leases expire`,
  }),
  turnOffHeadLeft: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_HEAD_LEFT',
    level: 'error',
    text: (e) => `could not terminate the head's machine: ${e.why}; retrying until it is gone, or until 'manta down'`,
  }),
  turnedOff: defineEvent<{ hosts: number; left: number }>({
    code: 'MANTA_HEAD_OFF',
    level: 'info',
    text: (e) =>
      `the cluster is down: cleaned up ${e.hosts} ${e.hosts === 1 ? 'machine' : 'machines'}${e.left > 0 ? `, ${e.left} did not respond` : ''}`,
  }),
  leaseNotRenewed: defineEvent<{ host: string; reason: string; seconds: number }>({
    code: 'MANTA_HEAD_LEASE_NOT_RENEWED',
    level: 'warn',
    text: (e) =>
      `could not renew the lease of ${e.host}: ${e.reason}; Ray stops there after ${e.seconds} s without renewal`,
  }),
  leasesWithoutList: defineEvent<{ reason: string; workers: number }>({
    code: 'MANTA_HEAD_LEASES_WITHOUT_LIST',
    level: 'warn',
    text: (e) =>
      `the provider did not list its instances: ${e.reason}; renewing the leases of the ${e.workers} known workers`,
  }),
};
