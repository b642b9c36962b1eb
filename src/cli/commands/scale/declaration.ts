import { type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions } from '../../shared/cluster-options.ts';

export const requestResourcesOptions = [
  { name: 'num-cpus', value: 'N', type: 'integer', summary: 'capacity for N tasks with one CPU each' },
  { name: 'bundles', value: 'JSON', summary: 'capacity for all of these at once: [{"CPU": 2}, {"GPU": 1}]' },
  { name: 'clear', summary: 'withdraw the request', excludes: ['num-cpus', 'bundles'] },
  ...connectionOptions,
] as const satisfies readonly Option[];

export const drainNodeOptions = [
  { name: 'node-id', value: 'ID', summary: 'node id or instance id' },
  {
    name: 'reason',
    value: 'REASON',
    choices: ['DRAIN_NODE_REASON_IDLE_TERMINATION', 'DRAIN_NODE_REASON_PREEMPTION'],
    summary: 'reason for draining',
    default: 'DRAIN_NODE_REASON_IDLE_TERMINATION',
  },
  {
    name: 'reason-message',
    value: 'TEXT',
    dashed: true,
    summary: 'accepted for compatibility with `ray`; has no effect',
    ignored: 'the journal keeps its own reason',
  },
  {
    name: 'deadline-remaining-seconds',
    value: 'N',
    type: 'integer',
    min: 0,
    summary: 'for a preemption: seconds until the machine is gone',
  },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands that change how a cluster scales. */
export const scaleCommands: readonly Command[] = [
  defineCommand({
    path: ['request-resources'],
    summary: 'reserve capacity, even while it is idle',
    description:
      'Each request replaces the previous one. It stays in effect until you clear it or shut down the cluster.',
    args: [],
    options: requestResourcesOptions,
    examples: ['manta request-resources --num-cpus 16', 'manta request-resources --clear'],
    load: () => import('./request-resources.ts'),
  }),
  defineCommand({
    path: ['drain'],
    summary: 'drain a node: no new work, terminate it when it is idle',
    description: 'Exit code: 0 the node is draining, 1 the engine refused.',
    args: [{ name: 'NODE', summary: 'instance id or node id (at least six characters)', required: true }],
    options: connectionOptions,
    examples: ['manta drain NODE'],
    load: () => import('./drain.ts'),
  }),
  defineCommand({
    path: ['drain-node'],
    inRay: 'gcs',
    hidden: true,
    summary: 'drain a node, with the options of `ray drain-node`',
    description:
      'Exit code: 0 the node is draining, 1 the engine refused. `manta drain NODE` does the same for an idle node.\n' +
      'A preemption is never refused: work on the node is told its deadline.',
    args: [],
    options: drainNodeOptions,
    examples: ['manta drain-node --node-id ID --reason DRAIN_NODE_REASON_IDLE_TERMINATION'],
    load: () => import('./drain-node.ts'),
  }),
];
