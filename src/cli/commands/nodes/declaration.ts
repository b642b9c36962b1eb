import { type Argument, type Command, defineCommand, type Option } from '../../command.ts';
import { clusterNameOption, kubeOptions, onlyCluster, portForward } from '../../shared/cluster-options.ts';

const node: Argument = {
  name: 'NODE',
  summary: '`head`, the address of a node, or an instance id',
  required: true,
};

const yes = { name: 'yes', short: 'y', summary: 'skip the confirmation' } as const satisfies Option;

export const getHeadIpOptions = [clusterNameOption] as const satisfies readonly Option[];

export const getWorkerIpsOptions = [clusterNameOption] as const satisfies readonly Option[];

export const sshOptions = [clusterNameOption, portForward] as const satisfies readonly Option[];

export const logsOptions = [
  clusterNameOption,
  { name: 'follow', short: 'f', summary: 'follow new output' },
  { name: 'lines', value: 'N', type: 'integer', min: 0, summary: 'at most the last N lines', default: 100 },
  { name: 'file', value: 'PATTERN', summary: "show this file from Ray's log folder: raylet.out, gcs_server*" },
  ...kubeOptions,
] as const satisfies readonly Option[];

export const hostKeyAcceptOptions = [clusterNameOption, yes] as const satisfies readonly Option[];

export const killRandomNodeOptions = [
  clusterNameOption,
  yes,
  { name: 'hard', summary: 'terminate the instance, not just Ray' },
] as const satisfies readonly Option[];

/** Commands about single nodes, over SSH. */
export const nodeCommands: readonly Command[] = [
  defineCommand({
    path: ['get-head-ip'],
    inRay: true,
    summary: 'print the address of the head',
    description: 'Exit code 4 if the cluster has no head.',
    args: [onlyCluster],
    options: getHeadIpOptions,
    examples: ['manta get-head-ip cluster.yaml'],
    load: () => import('./get-head-ip.ts'),
  }),
  defineCommand({
    path: ['get-worker-ips'],
    inRay: true,
    summary: 'print the addresses of the workers, one per line',
    args: [onlyCluster],
    options: getWorkerIpsOptions,
    examples: ['manta get-worker-ips cluster.yaml'],
    load: () => import('./get-worker-ips.ts'),
  }),
  defineCommand({
    path: ['ssh'],
    summary: 'open a shell on a node, or run a command there',
    description:
      'Uses the key, user and proxy from the cluster file, and the pinned host key. Runs on the host, not\n' +
      'in a container. The exit code is that of the command.',
    args: [onlyCluster, node],
    passThrough: true,
    options: sshOptions,
    examples: ['manta ssh head', 'manta ssh team 10.0.0.7 -- nvidia-smi'],
    load: () => import('./ssh.ts'),
  }),
  defineCommand({
    path: ['logs'],
    summary: "print a node's setup output or Ray's logs",
    description:
      'Prints the output of the setup steps with their exit codes. With --file: a Ray log file on that node. For the output of\n' +
      'jobs, use `manta job logs`.',
    args: [onlyCluster, node],
    options: logsOptions,
    untilInterrupted: 'follow',
    examples: ['manta logs head', 'manta logs team 10.0.0.7 --file raylet.out -f'],
    load: () => import('./logs.ts'),
  }),
  defineCommand({
    path: ['host-key', 'accept'],
    summary: 'accept the changed host key of a node',
    description:
      'Shows the pinned key and the new one, asks for confirmation, and pins the new one. Only you can tell whether\n' +
      'the machine was reinstalled or someone is intercepting the connection.',
    args: [onlyCluster, node],
    options: hostKeyAcceptOptions,
    examples: ['manta host-key accept team 10.0.0.7'],
    load: () => import('./host-key-accept.ts'),
  }),
  defineCommand({
    path: ['kill-random-node'],
    inRay: true,
    hidden: true,
    summary: 'kill a random worker, to test that the cluster recovers',
    description:
      'Prints the address of the node. Stops Ray there; with --hard the provider terminates the instance without warning.',
    args: [onlyCluster],
    options: killRandomNodeOptions,
    examples: ['manta kill-random-node cluster.yaml -y --hard'],
    load: () => import('./kill-random-node.ts'),
  }),
];
