import { defineEvent } from '../base/events.ts';

/** What the commands that change a cluster tell on the way. */
export const launcherEvents = {
  starting: defineEvent<{ name: string }>({
    code: 'MANTA_LAUNCHER_STARTING',
    level: 'info',
    text: (e) => `starting the cluster '${e.name}'`,
  }),
  started: defineEvent<{ name: string; url: string }>({
    code: 'MANTA_LAUNCHER_STARTED',
    level: 'info',
    text: (e) => `the cluster '${e.name}' runs at ${e.url}`,
  }),
  upgrading: defineEvent<{ name: string; from: string; to: string }>({
    code: 'MANTA_LAUNCHER_UPGRADING',
    level: 'info',
    text: (e) => `upgrading mantad of the cluster '${e.name}' from ${e.from} to ${e.to}; jobs and nodes go on`,
  }),
  ending: defineEvent<{ name: string; what: string }>({
    code: 'MANTA_LAUNCHER_ENDING',
    level: 'info',
    text: (e) => `ending ${e.what} of the cluster '${e.name}'`,
  }),
  ended: defineEvent<{ name: string; instances: number }>({
    code: 'MANTA_LAUNCHER_ENDED',
    level: 'info',
    text: (e) =>
      `the cluster '${e.name}' is down: no process of it is left (instances that were ended: ${e.instances})`,
  }),
  portLater: defineEvent<{ port: number; url: string }>({
    code: 'MANTA_LAUNCHER_PORT_LATER',
    level: 'warn',
    text: (e) => `the cluster serves ${e.url} until it is started anew; port ${e.port} takes effect then`,
  }),
  asking: defineEvent<{ type: string }>({
    code: 'MANTA_LAUNCHER_ASKING',
    level: 'info',
    text: (e) => `asking for an instance of ${e.type} for the head`,
  }),
  gotHead: defineEvent<{ instance: string; address: string }>({
    code: 'MANTA_LAUNCHER_GOT_HEAD',
    level: 'info',
    text: (e) => `the head is ${e.instance} at ${e.address}`,
  }),
  headUnlisted: defineEvent<{ instance: string }>({
    code: 'MANTA_LAUNCHER_HEAD_UNLISTED',
    level: 'warn',
    text: (e) =>
      `the cloud does not list the head ${e.instance}, and does not say that it has ended: waiting until it is clear`,
  }),
  otherHead: defineEvent<{ instance: string; head: string }>({
    code: 'MANTA_LAUNCHER_OTHER_HEAD',
    level: 'warn',
    text: (e) =>
      `the cloud lists ${e.instance} as a head of this cluster too, beside ${e.head}: nothing here uses it, and it costs; end it in the cloud, or all with 'manta down'`,
  }),
  fileWarning: defineEvent<{ file: string; line: number; message: string }>({
    code: 'MANTA_LAUNCHER_FILE_WARNING',
    level: 'warn',
    text: (e) => `${e.file}:${e.line}: ${e.message}`,
  }),
  keyMissing: defineEvent<{ key: string }>({
    code: 'MANTA_LAUNCHER_KEY_MISSING',
    level: 'warn',
    text: (e) =>
      `the key '${e.key}' of ssh_private_key is not on this machine: ssh tries those of the agent and those it finds by itself`,
  }),
  moreWarnings: defineEvent<{ file: string; more: number }>({
    code: 'MANTA_LAUNCHER_MORE_WARNINGS',
    level: 'warn',
    text: (e) => `${e.file}: ${e.more} more warnings, which 'manta config check' lists`,
  }),
  connecting: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_CONNECTING',
    level: 'info',
    text: (e) => `${e.host}: connecting`,
  }),
  waiting: defineEvent<{ host: string; why: string; longest: string }>({
    code: 'MANTA_LAUNCHER_WAITING',
    level: 'info',
    text: (e) => `${e.host}: waiting for SSH: ${e.why}; for ${e.longest} more at most`,
  }),
  waitingForEnd: defineEvent<{ host: string; drains: boolean; longest: string }>({
    code: 'MANTA_LAUNCHER_WAITING_FOR_END',
    level: 'info',
    text: (e) =>
      `${e.host}: waiting until its old node ${e.drains ? 'has finished its work' : 'has ended, or its host is given up as silent'}, for ${e.longest} at most`,
  }),
  headUp: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_HEAD_UP',
    level: 'info',
    text: (e) => `${e.host}: the head is up, and mantad runs on it`,
  }),
  noBoot: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_NO_BOOT',
    level: 'warn',
    text: (e) =>
      `${e.host} has neither systemd for this user nor cron: after a reboot of it the next manta command starts mantad again`,
  }),
  unreached: defineEvent<{ host: string; why: string; next?: string | undefined }>({
    code: 'MANTA_LAUNCHER_UNREACHED',
    level: 'warn',
    text: (e) => `${e.host}: the cluster's key could not be put there: ${e.why}${e.next ? `; ${e.next}` : ''}`,
  }),
  endsElsewhere: defineEvent<{ name: string; before: string; now: string }>({
    code: 'MANTA_LAUNCHER_ENDS_ELSEWHERE',
    level: 'warn',
    text: (e) =>
      `the file says that the head is ${e.now}, but '${e.name}' was started on ${e.before}: that one is ended`,
  }),
  jobsUnknown: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_JOBS_UNKNOWN',
    level: 'warn',
    text: (e) => `mantad on ${e.host} did not say which jobs run: a restart of Ray ends those that do`,
  }),
  notForRay: defineEvent<{ why: string }>({
    code: 'MANTA_LAUNCHER_NOT_FOR_RAY',
    level: 'warn',
    text: (e) => `the tags that ray's own commands read could not be written: ${e.why}`,
  }),
  noAuth: defineEvent<{ version: string }>({
    code: 'MANTA_LAUNCHER_NO_AUTH',
    level: 'warn',
    text: (e) =>
      `Ray ${e.version} cannot ask for a token: whoever reaches the ports of these machines may run anything on them, as provider.manta.allow_no_auth says`,
  }),
  cutShort: defineEvent<{ name: string; what: 'up' | 'down' }>({
    code: 'MANTA_LAUNCHER_CUT_SHORT',
    level: 'warn',
    text: (e) =>
      e.what === 'up'
        ? `what 'manta up' has begun on the hosts of '${e.name}' goes on there: run it again to go on from here, or 'manta down -n ${e.name}' to end it`
        : `'manta down' of '${e.name}' is not complete: run it again`,
  }),
  left: defineEvent<{ host: string; why: string }>({
    code: 'MANTA_LAUNCHER_LEFT',
    level: 'warn',
    text: (e) => (e.why.startsWith(e.host) ? e.why : `${e.host}: ${e.why}`),
  }),
  endedThere: defineEvent<{ name: string; hosts: number; left: readonly string[] }>({
    code: 'MANTA_LAUNCHER_ENDED_THERE',
    level: 'info',
    text: (e) =>
      e.left.length === 0
        ? `the cluster '${e.name}' is down: looked at ${e.hosts} hosts, nothing of it is left`
        : `the cluster '${e.name}' is down on ${e.hosts} hosts; not on ${e.left.join(', ')}`,
  }),
};
