import { type Command, defineCommand, type Option } from '../command.ts';
import { dumpOptions } from './cluster-dump-options.ts';
import { connectionOptions, noConfigCache, onlyCluster, rayLogOptions } from './cluster-options.ts';

const levels = ['info', 'warn', 'error'] as const;

export const statusOptions = [
  { name: 'verbose', short: 'v', summary: 'each node and what keeps it busy' },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const eventsOptions = [
  { name: 'follow', short: 'f', summary: 'go on with what happens from now on' },
  { name: 'since', value: 'WHEN', summary: 'only what happened after: 10m, 2h, or a date and time' },
  { name: 'level', value: 'LEVEL', choices: levels, summary: 'only events as grave as this', default: 'info' },
  { name: 'lines', value: 'N', type: 'integer', summary: 'no more than the last N of the past', default: 100 },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const monitorOptions = [
  { name: 'lines', value: 'N', type: 'integer', summary: 'events of the past to begin with', default: 100 },
  ...connectionOptions,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const requestResourcesOptions = [
  { name: 'num-cpus', value: 'N', type: 'integer', summary: 'room for N tasks of one CPU' },
  { name: 'bundles', value: 'JSON', summary: 'room for all of these at once: [{"CPU": 2}, {"GPU": 1}]' },
  { name: 'clear', summary: 'withdraw the request' },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const drainNodeOptions = [
  { name: 'node-id', value: 'ID', summary: 'id of the node or of its instance' },
  {
    name: 'reason',
    value: 'REASON',
    choices: ['DRAIN_NODE_REASON_IDLE_TERMINATION', 'DRAIN_NODE_REASON_PREEMPTION'],
    summary: 'why',
    default: 'DRAIN_NODE_REASON_IDLE_TERMINATION',
  },
  {
    name: 'reason-message',
    value: 'TEXT',
    dashed: true,
    summary: "taken for ray's sake",
    ignored: 'the journal keeps its own reason',
  },
  {
    name: 'deadline-remaining-seconds',
    value: 'N',
    type: 'integer',
    min: 0,
    summary: 'of a preemption: the machine is gone in so many seconds; without it nobody says when',
  },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const healthCheckOptions = [
  {
    name: 'component',
    value: 'NAME',
    summary: "taken for ray's sake",
    ignored: 'the head is asked as a whole',
  },
  {
    name: 'skip-version-check',
    summary: "taken for ray's sake",
    ignored: 'Manta speaks to any Ray it supports',
  },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const envOptions = [
  { name: 'unset', summary: 'print lines that undo it' },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const dashboardOptions = [
  {
    name: 'port',
    short: 'p',
    value: 'PORT',
    type: 'integer',
    min: 1,
    max: 65_535,
    summary: 'port of this machine that the tunnel begins at',
    default: 8265,
  },
  {
    name: 'remote-port',
    value: 'PORT',
    type: 'integer',
    min: 1,
    max: 65_535,
    summary: 'port of the head that the tunnel leads to',
    default: 8265,
  },
  { name: 'no-open', summary: 'only print it' },
  noConfigCache,
  ...connectionOptions,
] as const satisfies readonly Option[];

export const clusterDumpOptions = [
  { name: 'output', short: 'o', value: 'FILE', summary: 'where to write it', complete: 'file' },
  ...dumpOptions,
  ...connectionOptions,
] as const satisfies readonly Option[];

export const userAddOptions = [
  { name: 'admin', summary: "may act on everybody's jobs and on users" },
  { name: 'weight', value: 'N', type: 'number', summary: 'share of the cluster beside others (without it 1)' },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands that ask a running cluster, or tell it something. */
export const clusterCommands: readonly Command[] = [
  defineCommand({
    path: ['status'],
    inRay: 'gcs',
    summary: 'show nodes, usage and demand, in the words of `ray status`',
    description:
      'A last line says when the cluster ends by itself, where it does. Of one that has, it says when and why, with exit code 4.\n' +
      'With --json: {"text", "verboseText", "status", "turnOff"}, with the facts behind the text under "status"; or {"name", "ended"}.',
    args: [onlyCluster],
    options: statusOptions,
    examples: ['manta status', 'manta status -v', 'manta status cluster.yaml'],
    load: () => import('./status.ts'),
  }),
  defineCommand({
    path: ['events'],
    summary: 'show what the cluster did, and why',
    description:
      'With --json: one event a line, {"seq", "at", "code", "level", "text", …}; codes are in docs/events.md.',
    args: [onlyCluster],
    options: eventsOptions,
    untilInterrupted: 'follow',
    examples: ['manta events --since 1h', 'manta events -f --level warn'],
    load: () => import('./events-follow.ts'),
  }),
  defineCommand({
    path: ['monitor'],
    inRay: true,
    summary: 'watch the cluster: events as they happen, and nodes and jobs as they change',
    description: 'Goes on until Ctrl-C, through restarts of the head.',
    args: [onlyCluster],
    options: monitorOptions,
    untilInterrupted: true,
    examples: ['manta monitor', 'manta monitor cluster.yaml --lines 20'],
    load: () => import('./monitor.ts'),
  }),
  defineCommand({
    path: ['why'],
    summary: 'explain why a job, a node or the waiting demand is where it is',
    description:
      'The chain of causes from the journal: what was asked for, what was considered and passed over, errors, back-off\n' +
      'until when, and what would change it. SUBJECT is the id of a job, of an instance or of a node, or the word demand.',
    args: [{ name: 'SUBJECT', summary: 'id of a job or a node, or the word demand', required: true }],
    options: connectionOptions,
    examples: ['manta why raysubmit_4LamXRuQpYdSMg7J', 'manta why demand'],
    load: () => import('./why.ts'),
  }),
  defineCommand({
    path: ['request-resources'],
    summary: 'keep room for this much, whether it is used or not',
    description: 'Each request replaces the one before it. It stands until it is cleared or the cluster goes down.',
    args: [],
    options: requestResourcesOptions,
    examples: ['manta request-resources --num-cpus 16', 'manta request-resources --clear'],
    load: () => import('./request-resources.ts'),
  }),
  defineCommand({
    path: ['drain'],
    summary: 'give a node no more work; it ends when it is idle',
    description: 'Exit code: 0 it is being drained, 1 the engine refused.',
    args: [{ name: 'NODE', summary: 'id of the instance or of the node (six characters or more)', required: true }],
    options: connectionOptions,
    examples: ['manta drain NODE'],
    load: () => import('./drain.ts'),
  }),
  defineCommand({
    path: ['drain-node'],
    inRay: 'gcs',
    hidden: true,
    summary: "give a node no more work, in ray's words",
    description:
      'Exit code: 0 it is being drained, 1 the engine refused. `manta drain NODE` is the same for a node that is idle.\n' +
      'A preemption is not refused: what runs on the node is told that it has until the deadline.',
    args: [],
    options: drainNodeOptions,
    examples: ['manta drain-node --node-id ID --reason DRAIN_NODE_REASON_IDLE_TERMINATION'],
    load: () => import('./drain-node.ts'),
  }),
  defineCommand({
    path: ['health-check'],
    inRay: 'gcs',
    hidden: true,
    summary: 'say by the exit code whether the cluster is well',
    description:
      'Exit code: 0 the head answers and Ray with it, 1 it answers and Ray does not, 4 or 6 it does not answer.',
    args: [onlyCluster],
    options: healthCheckOptions,
    examples: ['manta health-check'],
    load: () => import('./health-check.ts'),
  }),
  defineCommand({
    path: ['env'],
    summary: "print what a shell needs for ray's own tools to reach the cluster",
    description:
      'Export lines for eval: the address, the authentication mode, and the token of the user.\n' +
      'The token is one of this cluster and can be revoked; keep the output out of logs.\n' +
      'With --json: {"RAY_API_SERVER_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"}.',
    args: [onlyCluster],
    options: envOptions,
    examples: ['eval "$(manta env)"', 'eval "$(manta env --unset)"'],
    load: () => import('./env.ts'),
  }),
  defineCommand({
    path: ['dashboard'],
    inRay: true,
    summary: 'open the page of the cluster, or of all clusters',
    description:
      'Prints a link that signs a browser in once, within a minute, and opens it. To a cluster on other machines it holds\n' +
      'a tunnel until Ctrl-C, through lost connections: while it does, --port of this machine is the address for\n' +
      '`ray job submit --address`. Where no cluster is named and there are several, it holds one page that lists them all\n' +
      'and opens each under a name of its own, http://CLUSTER.localhost:PORT.',
    args: [onlyCluster],
    options: dashboardOptions,
    untilInterrupted: true,
    examples: ['manta dashboard', 'manta dashboard cluster.yaml -p 9000', 'manta dashboard --no-open'],
    load: () => import('./dashboard.ts'),
  }),
  defineCommand({
    path: ['cluster-dump'],
    inRay: true,
    summary: 'pack what a maintainer needs to understand a problem, without secrets',
    description:
      'Writes a .tar.gz with status, nodes, demand, events, jobs, the journal of scaling decisions, the end of the\n' +
      "head's log, the cluster file and versions; CONTENTS.txt in it lists them. Values that look like secrets, values of\n" +
      'env_vars and all tokens are replaced by ***, wherever they occur. Output of jobs is not in it. Works while the head is down too.\n' +
      'Here -h is the short form of --host, as with ray. With --json: {"file", "bytes", "entries"}.',
    args: [onlyCluster],
    options: clusterDumpOptions,
    examples: ['manta cluster-dump -o problem.tar.gz', 'manta cluster-dump cluster.yaml --no-logs'],
    load: () => import('./cluster-dump.ts'),
  }),
  defineCommand({
    path: ['user', 'add'],
    summary: 'make a user and print its token, once',
    description: 'With --json: {"user", "token"}.',
    args: [{ name: 'NAME', summary: 'letters, digits and _ . @ -', required: true }],
    options: userAddOptions,
    examples: ['manta user add ada'],
    load: () => import('./user-add.ts'),
  }),
  defineCommand({
    path: ['user', 'list'],
    summary: 'list users',
    args: [],
    options: connectionOptions,
    examples: ['manta user list'],
    load: () => import('./user-list.ts'),
  }),
  defineCommand({
    path: ['user', 'revoke'],
    summary: 'end every token of a user; its jobs go on',
    args: [{ name: 'NAME', summary: 'the user', required: true }],
    options: connectionOptions,
    examples: ['manta user revoke ada'],
    load: () => import('./user-revoke.ts'),
  }),
];
