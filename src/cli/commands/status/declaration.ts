import { type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions, onlyCluster, rayLogOptions } from '../../shared/cluster-options.ts';

const levels = ['info', 'warn', 'error'] as const;

export const statusOptions = [
  { name: 'verbose', short: 'v', summary: 'show each node and what keeps it busy' },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const eventsOptions = [
  { name: 'follow', short: 'f', summary: 'follow new events' },
  { name: 'since', value: 'WHEN', summary: 'only events after this: 10m, 2h, or a date and time' },
  { name: 'level', value: 'LEVEL', choices: levels, summary: 'only events of this level or above', default: 'info' },
  { name: 'lines', value: 'N', type: 'integer', summary: 'at most the last N past events', default: 100 },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const monitorOptions = [
  { name: 'lines', value: 'N', type: 'integer', summary: 'number of past events to start with', default: 100 },
  ...connectionOptions,
  ...rayLogOptions,
] as const satisfies readonly Option[];

export const healthCheckOptions = [
  {
    name: 'component',
    value: 'NAME',
    summary: 'accepted for compatibility with `ray`; has no effect',
    ignored: 'the check covers the whole head',
  },
  {
    name: 'skip-version-check',
    summary: 'accepted for compatibility with `ray`; has no effect',
    ignored: 'Manta works with any Ray version it supports',
  },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const envOptions = [
  { name: 'unset', summary: 'print lines that unset the variables' },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands that ask a running cluster. */
export const statusCommands: readonly Command[] = [
  defineCommand({
    path: ['status'],
    inRay: 'gcs',
    summary: 'show nodes, usage and demand, in the format of `ray status`',
    description:
      'The last line shows when the cluster shuts itself down, if it does. If it already has, the output says when and why, with exit code 4.\n' +
      'With --json: {"text", "verboseText", "status", "turnOff"}, with the data behind the text under "status"; or {"name", "ended"}.',
    args: [onlyCluster],
    options: statusOptions,
    examples: ['manta status', 'manta status -v', 'manta status cluster.yaml'],
    load: () => import('./status.ts'),
  }),
  defineCommand({
    path: ['events'],
    summary: 'show what the cluster did, and why',
    description:
      'With --json: one event per line, {"seq", "at", "code", "level", "text", …}; docs/events.md lists the codes.',
    args: [onlyCluster],
    options: eventsOptions,
    untilInterrupted: 'follow',
    examples: ['manta events --since 1h', 'manta events -f --level warn'],
    load: () => import('./show-events.ts'),
  }),
  defineCommand({
    path: ['monitor'],
    inRay: true,
    summary: 'watch events, nodes and jobs of a cluster as they change',
    description: 'Runs until Ctrl-C, through restarts of the head.',
    args: [onlyCluster],
    options: monitorOptions,
    untilInterrupted: true,
    examples: ['manta monitor', 'manta monitor cluster.yaml --lines 20'],
    load: () => import('./monitor.ts'),
  }),
  defineCommand({
    path: ['why'],
    summary: 'explain the state of a job, a node or the waiting demand',
    description:
      'Shows the chain of causes from the journal: what was requested, what was considered and skipped, errors, how long\n' +
      'Manta backs off, and what would change it. SUBJECT is a job id, an instance id, a node id, or `demand`.',
    args: [{ name: 'SUBJECT', summary: 'job id, node id, `demand`, or kube:NAME', required: true }],
    options: connectionOptions,
    examples: ['manta why raysubmit_4LamXRuQpYdSMg7J', 'manta why demand'],
    load: () => import('./why.ts'),
  }),
  defineCommand({
    path: ['health-check'],
    inRay: 'gcs',
    hidden: true,
    summary: 'report the health of a cluster with the exit code',
    description:
      'Exit code: 0 the head and Ray respond, 1 the head responds but Ray does not, 4 or 6 the head does not respond.',
    args: [onlyCluster],
    options: healthCheckOptions,
    examples: ['manta health-check'],
    load: () => import('./health-check.ts'),
  }),
  defineCommand({
    path: ['env'],
    summary: "print environment variables for using ray's own tools with the cluster",
    description:
      'Prints export lines for eval: the address, the authentication mode, and your token.\n' +
      'The token is for this cluster only and can be revoked; keep the output out of logs.\n' +
      'With --json: {"RAY_API_SERVER_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"}.',
    args: [onlyCluster],
    options: envOptions,
    examples: ['eval "$(manta env)"', 'eval "$(manta env --unset)"'],
    load: () => import('./env.ts'),
  }),
];
