import type { Argument, Option } from '../command.ts';

/** Which cluster is meant, as `ray` takes it: by its file. Manta also knows clusters by name. */
export const clusterArgument: Argument = {
  name: 'CLUSTER',
  summary: 'cluster file, its http(s) address, - for standard input, or the name of a cluster that is known here',
  complete: 'cluster',
};

/** For commands that need no file where one cluster is known. */
export const onlyCluster: Argument = {
  ...clusterArgument,
  summary: `${clusterArgument.summary}; without it MANTA_CLUSTER, or the only one`,
};

export const requiredCluster: Argument = { ...clusterArgument, required: true };

export const clusterNameOption = {
  name: 'cluster-name',
  short: 'n',
  value: 'NAME',
  summary: "the cluster's name; wins over the one in the file",
  complete: 'cluster-name',
} as const satisfies Option;

/** Which cluster a command speaks to; the first three as `ray job` has them. */
export const connectionOptions = [
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
    summary: 'a cluster that is known here; also MANTA_CLUSTER, default the only one that runs',
    complete: 'cluster-name',
  },
] as const satisfies readonly Option[];

/** Ray's command line takes them nearly everywhere. */
export const rayLogOptions = [
  {
    name: 'log-style',
    value: 'STYLE',
    choices: ['auto', 'record', 'pretty'],
    anyCase: true,
    summary: "taken for ray's sake",
    ignored: 'lines are live on a terminal and plain elsewhere, and --json is the form for programs',
  },
  {
    name: 'log-color',
    value: 'WHEN',
    choices: ['auto', 'true', 'false'],
    anyCase: true,
    summary: 'true is --color, false is --no-color',
  },
] as const satisfies readonly Option[];

export const noConfigCache = {
  name: 'no-config-cache',
  summary: "taken for ray's sake",
  ignored: 'the cluster file is read anew each time, so there is no cache to leave out',
} as const satisfies Option;

export const disableUsageStats = {
  name: 'disable-usage-stats',
  summary: 'let the Ray that is started report nothing about its use',
} as const satisfies Option;

export const portForward = {
  name: 'port-forward',
  short: 'p',
  value: 'PORT',
  type: 'integer',
  min: 1,
  max: 65_535,
  many: true,
  summary: 'let this port of this machine lead to the same port of the head, while the command runs',
} as const satisfies Option;

/** Where a command goes on without the terminal. */
export const screenOptions = [
  { name: 'screen', summary: 'run it in a screen', excludes: ['tmux'] },
  { name: 'tmux', summary: 'run it in a tmux' },
] as const satisfies readonly Option[];

export const startOption = {
  name: 'start',
  summary: 'start the cluster first, if it does not run',
} as const satisfies Option;
export const stopOption = {
  name: 'stop',
  summary: 'end the cluster when the command has ended',
} as const satisfies Option;
