import type { Argument, Option } from '../command.ts';

/** Which cluster is meant, as `ray` takes it: by its file. Manta also knows clusters by name. */
export const clusterArgument: Argument = {
  name: 'CLUSTER',
  summary: 'cluster file, its URL, - for standard input, a cluster name, or kube:NAME',
  complete: 'cluster',
};

/** For commands that need no file if only one cluster is known. */
export const onlyCluster: Argument = {
  ...clusterArgument,
  summary: `${clusterArgument.summary} (default: MANTA_CLUSTER, or the only cluster)`,
};

export const requiredCluster: Argument = { ...clusterArgument, required: true };

export const clusterNameOption = {
  name: 'cluster-name',
  short: 'n',
  value: 'NAME',
  summary: 'cluster name; overrides the file',
  complete: 'cluster-name',
} as const satisfies Option;

/** Where `kube:NAME` is; `-n` stays Manta's own. */
export const kubeWhere = [
  { name: 'context', value: 'NAME', summary: 'context of the kubeconfig (default: the current one)' },
  { name: 'namespace', value: 'NAME', summary: "namespace (default: the context's, else 'default')" },
] as const satisfies readonly Option[];

/** Of commands that take `kube:NAME` for a cluster. */
export const kubeOptions = [
  ...kubeWhere,
  { name: 'pending', summary: "a RayService's next cluster, during an upgrade" },
] as const satisfies readonly Option[];

/** Which cluster a command talks to; the first three are those of `ray job`. */
export const connectionOptions = [
  {
    name: 'address',
    value: 'URL',
    summary: 'address of the head; RAY_API_SERVER_ADDRESS, RAY_ADDRESS override it',
  },
  {
    name: 'verify',
    value: 'BOOL|PATH',
    summary: 'verify TLS certificates, optionally against those in PATH',
    default: 'true',
  },
  { name: 'headers', value: 'JSON', summary: 'extra headers for each request; also RAY_JOB_HEADERS' },
  {
    name: 'cluster-name',
    short: 'n',
    value: 'NAME',
    summary: 'cluster name; also MANTA_CLUSTER (default: the only one running)',
    complete: 'cluster-name',
  },
  ...kubeOptions,
] as const satisfies readonly Option[];

/** Ray's command line accepts them nearly everywhere. */
export const rayLogOptions = [
  {
    name: 'log-style',
    value: 'STYLE',
    choices: ['auto', 'record', 'pretty'],
    anyCase: true,
    summary: 'accepted for compatibility with `ray`; has no effect',
    ignored: 'output is live on a terminal and plain elsewhere; use --json for programs',
  },
  {
    name: 'log-color',
    value: 'WHEN',
    choices: ['auto', 'true', 'false'],
    anyCase: true,
    summary: 'same as --color (true) or --no-color (false)',
  },
] as const satisfies readonly Option[];

export const noConfigCache = {
  name: 'no-config-cache',
  summary: 'accepted for compatibility with `ray`; has no effect',
  ignored: 'the cluster file is read every time, so there is no cache',
} as const satisfies Option;

export const disableUsageStats = {
  name: 'disable-usage-stats',
  summary: "turn off Ray's usage reports",
} as const satisfies Option;

export const portForward = {
  name: 'port-forward',
  short: 'p',
  value: 'PORT',
  type: 'integer',
  min: 1,
  max: 65_535,
  many: true,
  summary: 'forward this local port to the same port on the head',
} as const satisfies Option;

/** Where a command keeps running without the terminal. */
export const screenOptions = [
  { name: 'screen', summary: 'run it in screen', excludes: ['tmux'] },
  { name: 'tmux', summary: 'run it in tmux' },
] as const satisfies readonly Option[];

export const startOption = {
  name: 'start',
  summary: 'start the cluster first if it is not running',
} as const satisfies Option;
export const stopOption = {
  name: 'stop',
  summary: 'shut down the cluster when the command finishes',
} as const satisfies Option;
