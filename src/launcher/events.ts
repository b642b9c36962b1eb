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
    text: (e) => `the cluster '${e.name}' is running at ${e.url}`,
  }),
  upgrading: defineEvent<{ name: string; from: string; to: string }>({
    code: 'MANTA_LAUNCHER_UPGRADING',
    level: 'info',
    text: (e) => `upgrading mantad of the cluster '${e.name}' from ${e.from} to ${e.to}; jobs and nodes keep running`,
  }),
  ending: defineEvent<{ name: string; what: string }>({
    code: 'MANTA_LAUNCHER_ENDING',
    level: 'info',
    text: (e) => `shutting down ${e.what} of the cluster '${e.name}'`,
  }),
  ended: defineEvent<{ name: string; instances: number }>({
    code: 'MANTA_LAUNCHER_ENDED',
    level: 'info',
    text: (e) =>
      `the cluster '${e.name}' is down: none of its processes is left (instances terminated: ${e.instances})`,
  }),
  portLater: defineEvent<{ port: number; url: string }>({
    code: 'MANTA_LAUNCHER_PORT_LATER',
    level: 'warn',
    text: (e) => `port ${e.port} takes effect when the cluster restarts; until then it serves ${e.url}`,
  }),
  asking: defineEvent<{ type: string }>({
    code: 'MANTA_LAUNCHER_ASKING',
    level: 'info',
    text: (e) => `requesting an instance of ${e.type} for the head`,
  }),
  headRefused: defineEvent<{ offer: string; why: string }>({
    code: 'MANTA_LAUNCHER_HEAD_REFUSED_THERE',
    level: 'warn',
    text: (e) => `${e.offer}: ${e.why}; trying the next zone or market`,
  }),
  replacingHead: defineEvent<{ instance: string }>({
    code: 'MANTA_LAUNCHER_REPLACING_HEAD',
    level: 'info',
    text: (e) => `terminating the head ${e.instance}, which is replaced`,
  }),
  remains: defineEvent<{ kind: string; id: string; why: string; cost?: number | undefined }>({
    code: 'MANTA_LAUNCHER_REMAINS',
    level: 'warn',
    text: (e) => `${e.kind} ${e.id}: ${e.why}${e.cost === undefined ? '' : ` ($${e.cost.toFixed(2)} a month)`}`,
  }),
  cloudWarning: defineEvent<{ message: string }>({
    code: 'MANTA_LAUNCHER_CLOUD_WARNING',
    level: 'warn',
    text: (e) => e.message,
  }),
  gotHead: defineEvent<{ instance: string; address: string }>({
    code: 'MANTA_LAUNCHER_GOT_HEAD',
    level: 'info',
    text: (e) => `the head is ${e.instance} at ${e.address}`,
  }),
  headUnlisted: defineEvent<{ instance: string }>({
    code: 'MANTA_LAUNCHER_HEAD_UNLISTED',
    level: 'warn',
    text: (e) => `the cloud neither lists the head ${e.instance} nor reports it terminated; waiting`,
  }),
  otherHead: defineEvent<{ instance: string; head: string }>({
    code: 'MANTA_LAUNCHER_OTHER_HEAD',
    level: 'warn',
    text: (e) =>
      `the cloud lists ${e.instance} as a second head of this cluster, besides ${e.head}; it is unused and still costs money: terminate it in the cloud, or shut down everything with 'manta down'`,
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
      `ssh_private_key '${e.key}' does not exist on this machine; ssh will try the agent's keys and its default ones`,
  }),
  moreWarnings: defineEvent<{ file: string; more: number }>({
    code: 'MANTA_LAUNCHER_MORE_WARNINGS',
    level: 'warn',
    text: (e) => `${e.file}: ${e.more} more warnings; see 'manta config check'`,
  }),
  connecting: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_CONNECTING',
    level: 'info',
    text: (e) => `${e.host}: connecting`,
  }),
  waiting: defineEvent<{ host: string; why: string; longest: string }>({
    code: 'MANTA_LAUNCHER_WAITING',
    level: 'info',
    text: (e) => `${e.host}: waiting up to ${e.longest} for SSH: ${e.why}`,
  }),
  waitingForEnd: defineEvent<{ host: string; drains: boolean; longest: string }>({
    code: 'MANTA_LAUNCHER_WAITING_FOR_END',
    level: 'info',
    text: (e) =>
      `${e.host}: waiting up to ${e.longest} for its old node ${e.drains ? 'to finish its work' : 'to stop, or for its host to be given up as unresponsive'}`,
  }),
  headUp: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_HEAD_UP',
    level: 'info',
    text: (e) => `${e.host}: the head is up and mantad is running`,
  }),
  noBoot: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_NO_BOOT',
    level: 'warn',
    text: (e) =>
      `${e.host} has neither cron nor systemd for users, so mantad does not start on boot; after a reboot, the next manta command starts it`,
  }),
  unreached: defineEvent<{ host: string; why: string; next?: string | undefined }>({
    code: 'MANTA_LAUNCHER_UNREACHED',
    level: 'warn',
    text: (e) => `${e.host}: could not install the cluster's SSH key: ${e.why}${e.next ? `; ${e.next}` : ''}`,
  }),
  endsElsewhere: defineEvent<{ name: string; before: string; now: string }>({
    code: 'MANTA_LAUNCHER_ENDS_ELSEWHERE',
    level: 'warn',
    text: (e) =>
      `the file now names ${e.now} as the head, but '${e.name}' was started on ${e.before}; shutting down that one`,
  }),
  jobsUnknown: defineEvent<{ host: string }>({
    code: 'MANTA_LAUNCHER_JOBS_UNKNOWN',
    level: 'warn',
    text: (e) => `mantad on ${e.host} did not report its running jobs; restarting Ray stops any that are running`,
  }),
  notForRay: defineEvent<{ why: string }>({
    code: 'MANTA_LAUNCHER_NOT_FOR_RAY',
    level: 'warn',
    text: (e) => `could not write the tags that ray's own commands read: ${e.why}`,
  }),
  noAuth: defineEvent<{ version: string }>({
    code: 'MANTA_LAUNCHER_NO_AUTH',
    level: 'warn',
    text: (e) =>
      `Ray ${e.version} has no token authentication: anyone who can reach the ports of these machines can run code on them (provider.manta.allow_no_auth is set)`,
  }),
  cutShort: defineEvent<{ name: string; what: 'up' | 'down' }>({
    code: 'MANTA_LAUNCHER_CUT_SHORT',
    level: 'warn',
    text: (e) =>
      e.what === 'up'
        ? `'manta up' of '${e.name}' was interrupted, but its steps keep running on the hosts; run it again to resume, or 'manta down -n ${e.name}' to shut it down`
        : `'manta down' of '${e.name}' did not finish: run it again`,
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
        ? `the cluster '${e.name}' is down: checked ${e.hosts} hosts, nothing is left`
        : `the cluster '${e.name}' is down on ${e.hosts} hosts, but not on ${e.left.join(', ')}`,
  }),
  execSessionStarted: defineEvent<{ id: string; kind: string; host: string; cluster: string }>({
    code: 'MANTA_SESSION_STARTED',
    level: 'info',
    text: (e) =>
      `running in ${e.kind} on ${e.host}; list it with 'manta sessions ${e.cluster}', follow its output with 'manta sessions ${e.cluster} --log ${e.id} -f', open it with 'manta attach ${e.cluster} --session ${e.id}'`,
  }),
  execStartIgnored: defineEvent<{ address: string }>({
    code: 'MANTA_EXEC_START_IGNORED',
    level: 'warn',
    text: (e) => `--start has no effect with --node-ip ${e.address}, which can be any node of the cluster`,
  }),
  execArgsDeprecated: defineEvent<Record<string, never>>({
    code: 'MANTA_SUBMIT_ARGS_DEPRECATED',
    level: 'warn',
    text: () =>
      "--args is deprecated, as in ray; put the arguments after --, as in 'manta submit CLUSTER script.py -- --epochs 3'",
  }),
  execCopying: defineEvent<{ host: string; what: string }>({
    code: 'MANTA_RSYNC_COPYING',
    level: 'info',
    text: (e) => `copying ${e.what} (${e.host})`,
  }),
  execAllNodes: defineEvent<{ count: number }>({
    code: 'MANTA_RSYNC_ALL_NODES',
    level: 'warn',
    text: (e) => `copied to the ${e.count} current nodes; nodes added later get only file_mounts`,
  }),
  venvUsing: defineEvent<{ version: string; python: string }>({
    code: 'MANTA_RAY_VENV_USING',
    level: 'info',
    text: (e) => `using Ray ${e.version} from ${e.python}`,
  }),
  venvPassedOver: defineEvent<{ python: string; why: string }>({
    code: 'MANTA_RAY_VENV_PASSED_OVER',
    level: 'warn',
    text: (e) => `not using the Ray of ${e.python}: ${e.why}`,
  }),
  venvMaking: defineEvent<{ version: string; folder: string; step: string }>({
    code: 'MANTA_RAY_VENV_MAKING',
    level: 'info',
    text: (e) => `installing Ray ${e.version} into ${e.folder}: ${e.step}`,
  }),
  venvMade: defineEvent<{ version: string; folder: string; seconds: number }>({
    code: 'MANTA_RAY_VENV_MADE',
    level: 'info',
    text: (e) => `installed Ray ${e.version} into ${e.folder} (${e.seconds} s)`,
  }),
  shimNotOnPath: defineEvent<{ folder: string }>({
    code: 'MANTA_SHIM_NOT_ON_PATH',
    level: 'warn',
    text: (e) => `${e.folder} is not on PATH; add it, before the folder of the real ray`,
  }),
  shimShadowed: defineEvent<{ file: string; by: string }>({
    code: 'MANTA_SHIM_SHADOWED',
    level: 'warn',
    text: (e) => `${e.by} comes before ${e.file} on PATH, so scripts will use that one`,
  }),
  shimNoRealRay: defineEvent<Record<string, never>>({
    code: 'MANTA_SHIM_NO_REAL_RAY',
    level: 'info',
    text: () => 'no other ray is on PATH; commands that only Ray has will fail with a message that says so',
  }),
};
