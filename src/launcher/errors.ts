import { defineError } from '../base/errors.ts';

/** What can stop a command that changes a cluster. */
export const launcherErrors = {
  Busy: defineError<{ name: string; pid: number }>({
    code: 'MANTA_LAUNCHER_BUSY',
    exit: 4,
    message: (e) => `another command (pid ${e.pid}) is changing the cluster '${e.name}'`,
    hint: (e) =>
      `wait for it to end, or end it ('kill -INT ${e.pid}', or Ctrl-C where it runs), then run this again: each of them goes on from what the last one left`,
  }),
  BusyElsewhere: defineError<{ name: string; holder: string }>({
    code: 'MANTA_LAUNCHER_BUSY_ELSEWHERE',
    exit: 4,
    message: (e) => `${e.holder} is changing the cluster '${e.name}'`,
    hint: () =>
      'wait for it to end, then run this again; a machine that has died meanwhile holds nobody up for a minute',
  }),
  HalfDown: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_HALF_DOWN',
    exit: 4,
    message: (e) => `a 'manta down' of the cluster '${e.name}' was cut short`,
    hint: (e) =>
      `run 'manta down -n ${e.name}' to complete it first; with --forget it gives up hosts that do not answer`,
  }),
  HeadMoved: defineError<{ name: string; before: string; now: string }>({
    code: 'MANTA_LAUNCHER_HEAD_MOVED',
    exit: 4,
    message: (e) => `the head of the cluster '${e.name}' is ${e.before}, and the file says ${e.now} now`,
    hint: (e) =>
      `end it where it is with 'manta down ${e.name}' (--forget gives up a machine that is gone), or give this one another name with -n`,
  }),
  TurningOff: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_TURNING_OFF',
    exit: 4,
    message: (e) => `the cluster '${e.name}' has begun to turn itself off and does not come to its end`,
    hint: (e) => `run 'manta down -n ${e.name}' to complete it, then 'manta up' again`,
  }),
  HeadNewer: defineError<{ name: string; head: string; client: string }>({
    code: 'MANTA_LAUNCHER_HEAD_NEWER',
    exit: 4,
    message: (e) => `the cluster '${e.name}' runs Manta ${e.head}, which is newer than this one (${e.client})`,
    hint: (e) => `update Manta on this machine to ${e.head}; a head is never brought back to an earlier version`,
  }),
  UpgradeUndone: defineError<{ name: string; from: string; to: string; why: string; log: string }>({
    code: 'MANTA_LAUNCHER_UPGRADE_UNDONE',
    exit: 6,
    message: (e) => `mantad ${e.to} did not come up for the cluster '${e.name}', so ${e.from} runs again: ${e.why}`,
    hint: (e) => `jobs and nodes were not touched; the log is ${e.log}`,
  }),
  UpgradePending: defineError<{ name: string; host: string; to: string }>({
    code: 'MANTA_LAUNCHER_UPGRADE_PENDING',
    exit: 6,
    message: (e) => `mantad ${e.to} has not come up on ${e.host} for the cluster '${e.name}' yet`,
    hint: () =>
      "run 'manta up' again: it waits on; where the new version never comes up, the one before is brought back",
  }),
  NotApplied: defineError<{ url: string; status: number }>({
    code: 'MANTA_LAUNCHER_NOT_APPLIED',
    exit: 4,
    message: (e) => `mantad at ${e.url} answered ${e.status} and did not apply the cluster file`,
    hint: () => "'manta events' says why",
  }),
  StillThere: defineError<{ name: string; what: readonly string[] }>({
    code: 'MANTA_LAUNCHER_STILL_THERE',
    exit: 4,
    message: (e) => `after 'manta down' of '${e.name}' there is still: ${e.what.join(', ')}`,
    hint: () => 'run it again; what it cannot end it names',
  }),
  PortTaken: defineError<{ port: number }>({
    code: 'MANTA_LAUNCHER_PORT_TAKEN',
    exit: 4,
    message: (e) => `port ${e.port} of this machine is in use`,
    hint: () => 'choose another with --port',
  }),
  NoTunnel: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NO_TUNNEL',
    exit: 4,
    message: (e) => `no port of this machine leads to the cluster '${e.name}'`,
    hint: (e) => `hold one with 'manta dashboard ${e.name}' in another terminal, then run this again`,
  }),
  HeadNotListed: defineError<{ name: string; instance: string }>({
    code: 'MANTA_LAUNCHER_HEAD_NOT_LISTED',
    exit: 4,
    message: (e) => `the head of '${e.name}', instance ${e.instance}, neither runs nor has ended`,
    hint: () => "start it again in the cloud where it was stopped, or end the cluster with 'manta down'",
  }),
  HeadNotBooted: defineError<{ name: string; seconds: number }>({
    code: 'MANTA_LAUNCHER_HEAD_NOT_BOOTED',
    exit: 5,
    message: (e) => `the head of '${e.name}' had no address after ${e.seconds} s`,
    hint: () => 'run it again to wait on, or `manta down` to end what was asked for',
  }),
  NotUpYet: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NOT_UP_YET',
    exit: 4,
    message: (e) => `the cluster '${e.name}' has no head yet`,
    hint: () => "'manta up' with its cluster file makes one",
  }),
  NotAgreed: defineError<{ name: string; plan: string }>({
    code: 'MANTA_LAUNCHER_NOT_AGREED',
    exit: 2,
    message: (e) => `nothing was done to '${e.name}': nobody is at the terminal to agree to it\n${e.plan.trimEnd()}`,
    hint: () => 'give --yes to do it, or --plan to see only this',
  }),
  NotConfirmed: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `the cluster '${e.name}' is not ended: nobody is at the terminal to confirm it`,
    hint: () => 'give --yes; with --keep-state its jobs and their output stay for the next `manta up`',
  }),
  NoBundle: defineError<{ detail: string }>({
    code: 'MANTA_LAUNCHER_NO_BUNDLE',
    exit: 4,
    message: (e) => `the programs for the head could not be bundled: ${e.detail}`,
    hint: () => "'npm run build' in the checkout shows why",
  }),
  NoNode: defineError<{ platform: string; arch: string; detail: string }>({
    code: 'MANTA_LAUNCHER_NO_NODE',
    exit: 4,
    message: (e) => `the head has no Node 24 and none for ${e.platform}-${e.arch} could be got: ${e.detail}`,
    hint: () => 'install Node 24 or newer on the head, so that a login shell finds it as `node`',
  }),
  UnknownCluster: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_UNKNOWN_CLUSTER',
    exit: 2,
    message: (e) => `'${e.name}' is neither a cluster file nor a cluster that was started from here`,
    hint: () => 'give the cluster file; any machine that reaches the head over SSH can use it',
  }),
  NoHeadAddress: defineError<{ file: string }>({
    code: 'MANTA_LAUNCHER_NO_HEAD_ADDRESS',
    exit: 2,
    message: (e) => `${e.file} does not say which machine is the head`,
    hint: () => "write 'head_ip:' under provider",
  }),
  NotShipped: defineError<{ host: string; what: string; detail: string }>({
    code: 'MANTA_LAUNCHER_NOT_SHIPPED',
    exit: 4,
    message: (e) => `${e.what} could not be put on ${e.host}: ${e.detail}`,
    hint: () => 'see that the disk there has room and the home folder can be written, then run it again',
  }),
  MountMissing: defineError<{ remote: string; local: string; looked: readonly string[] }>({
    code: 'MANTA_LAUNCHER_MOUNT_MISSING',
    exit: 2,
    message: (e) =>
      `the file mount '${e.remote}' has no source: '${e.local}' is not there (looked for ${e.looked.join(' and ')})`,
    hint: () => 'mend the path under file_mounts; nothing was touched',
  }),
  NoSshThere: defineError<{ host: string }>({
    code: 'MANTA_LAUNCHER_NO_SSH_THERE',
    exit: 4,
    message: (e) => `${e.host} has no ssh-keygen: the head reaches its workers with OpenSSH`,
    hint: () => "install the OpenSSH client on the head, for example with 'sudo apt-get install openssh-client'",
  }),
  HeadUnreached: defineError<{ name: string; host: string; why: string; next?: string | undefined }>({
    code: 'MANTA_LAUNCHER_HEAD_UNREACHED',
    exit: 4,
    message: (e) => `the head of '${e.name}' (${e.host}) cannot be reached, so that nothing was ended: ${e.why}`,
    hint: (e) =>
      `${e.next ?? 'run it again when the head answers'}; --forget ends what can be reached and gives the rest up`,
  }),
};
