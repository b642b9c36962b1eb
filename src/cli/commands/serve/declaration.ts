import { type Command, defineCommand, type Option } from '../../command.ts';
import { clusterArgument, connectionOptions } from '../../shared/cluster-options.ts';

const waitOptions = [
  { name: 'wait', off: 'no-wait', summary: 'wait until all applications run' },
  { name: 'timeout', value: 'SECONDS', type: 'integer', min: 1, default: 900, summary: 'how long to wait' },
] as const satisfies readonly Option[];

export const serveDeployOptions = [
  { name: 'yes', short: 'y', summary: 'deploy without asking' },
  { name: 'plan', summary: 'show what would change, and stop' },
  ...waitOptions,
  ...connectionOptions,
] as const satisfies readonly Option[];

export const serveScaleOptions = [...waitOptions, ...connectionOptions] as const satisfies readonly Option[];

export const serveShutdownOptions = [
  { name: 'yes', short: 'y', summary: 'shut down without asking' },
  ...connectionOptions,
] as const satisfies readonly Option[];

const cluster = {
  ...clusterArgument,
  summary: `${clusterArgument.summary} (default: MANTA_CLUSTER, or the only one)`,
};

/** Commands about the applications of Ray Serve on a cluster. */
export const serveCommands: readonly Command[] = [
  defineCommand({
    path: ['serve', 'deploy'],
    summary: 'deploy a Serve config, and wait until its applications run',
    description:
      "Checks the config as Serve does, shows what changes (applications that are no longer in it are deleted), asks, sends it, and waits until Serve runs exactly that. On hosts, in clouds and on one machine it goes to Serve's API; without http_options.host Serve then listens on 127.0.0.1. On a RayService it goes into serveConfigV2, as KubeRay would undo anything else.\n" +
      'With --json: a line {"findings"} where the config has problems, then a line {"plan": {"apps", "ignored"}}.\n' +
      'Exit code: 0 deployed and running, 1 refused or not running, 2 nobody could confirm or the cluster has no Ray.',
    args: [
      { name: 'FILE', summary: 'Serve config, or - for standard input', required: true, complete: 'file' },
      cluster,
    ],
    options: serveDeployOptions,
    examples: ['manta serve deploy config.yaml CLUSTER', 'manta serve deploy --plan config.yaml CLUSTER'],
    load: () => import('./deploy.ts'),
  }),
  defineCommand({
    path: ['serve', 'status'],
    summary: 'show the applications of Serve and how they are',
    description:
      'With --json: one line, the answer of GET /api/serve/applications/.\nExit code: 0 all applications run, 1 one does not.',
    args: [cluster],
    options: connectionOptions,
    examples: ['manta serve status CLUSTER'],
    load: () => import('./status.ts'),
  }),
  defineCommand({
    path: ['serve', 'config'],
    summary: 'print the config that Serve runs, as YAML that can be deployed again',
    description: 'Values of variables are printed as they are. With --json: one line.',
    args: [cluster],
    options: connectionOptions,
    examples: ['manta serve config CLUSTER'],
    load: () => import('./config.ts'),
  }),
  defineCommand({
    path: ['serve', 'scale'],
    summary: 'set the number of replicas of a deployment',
    description:
      'Changes num_replicas in the config that runs and deploys it. Deployments that scale by themselves are refused.\nExit code: 0 that many replicas run, 1 they do not.',
    args: [
      { name: 'DEPLOYMENT', summary: 'APPLICATION/DEPLOYMENT', required: true },
      { name: 'REPLICAS', summary: 'how many', required: true },
      cluster,
    ],
    options: serveScaleOptions,
    examples: ['manta serve scale whisper_app/RequestHandler 2 CLUSTER'],
    load: () => import('./scale.ts'),
  }),
  defineCommand({
    path: ['serve', 'shutdown'],
    summary: 'end all applications of Serve, and Serve itself',
    args: [cluster],
    options: serveShutdownOptions,
    examples: ['manta serve shutdown --yes CLUSTER'],
    load: () => import('./shutdown.ts'),
  }),
];
