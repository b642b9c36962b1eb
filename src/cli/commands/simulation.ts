import { rayVersion, releaseOf } from '../../core/ray-version.ts';
import { type Command, defineCommand, type Option } from '../command.ts';

/** Named here and not imported: help must not load the simulation. A test holds it to the profiles there are. */
const profiles = [
  'none',
  'mild',
  'capacity',
  'spot-storm',
  'flaky-api',
  'bad-machines',
  'bad-engine',
  'crash-loop',
  'bad-clock',
  'chaos',
] as const;

export const simulateOptions = [
  {
    name: 'workload',
    value: 'FILE',
    summary: 'workload file, or the name of a published workload',
    complete: 'file',
  },
  { name: 'workloads', value: 'SET', summary: 'every workload of a set', choices: ['published'] },
  { name: 'demo', summary: 'a cluster and a workload that show what Manta does, drawn while it happens' },
  { name: 'tasks', value: 'N', type: 'integer', min: 1, max: 1_000_000, summary: 'a workload of N equal tasks' },
  { name: 'cpus', value: 'N', type: 'number', min: 0, summary: 'CPUs of each task', default: 1 },
  { name: 'gpus', value: 'N', type: 'number', min: 0, summary: 'GPUs of each task' },
  { name: 'memory', value: 'GIB', type: 'number', min: 0, summary: 'memory of each task, in GiB' },
  { name: 'duration', value: 'TIME', summary: 'how long each task takes, such as 90s or 5m', default: '2m' },
  { name: 'over', value: 'TIME', summary: 'spread the submissions over this time instead of all at once' },
  { name: 'faults', value: 'PROFILE', summary: 'what goes wrong', choices: profiles, default: 'none' },
  { name: 'seed', value: 'N', type: 'integer', min: 0, summary: 'where chance starts', default: 1 },
  {
    name: 'seeds',
    value: 'N',
    type: 'integer',
    min: 1,
    summary: 'run this many seeds and take the means',
    default: 1,
  },
  {
    name: 'compare',
    value: 'WITH',
    summary: 'decide the same with another planner, side by side',
    choices: ['ray'],
  },
  { name: 'live', summary: 'draw the run while it happens' },
  { name: 'html', value: 'FILE', summary: 'write a page with figures and charts', complete: 'file' },
  { name: 'markdown', summary: 'print one table of all workloads in Markdown' },
] as const satisfies readonly Option[];

/** Trying a cluster out without one. */
export const simulateCommands: readonly Command[] = [
  defineCommand({
    path: ['simulate'],
    summary: 'run a workload on a cluster that exists only in memory, and say what it takes and costs',
    description:
      'Runs the real planner, loop and executor against a simulated cloud and engine in virtual time: hours pass in\n' +
      'less than a second. The same seed gives the same run. Prints the makespan, waiting times, node hours, the cost\n' +
      'when prices are known, and a drawing of nodes and waiting work over time.\n' +
      `With --compare ray the same is done with the planner of Ray ${releaseOf(rayVersion)} itself, which needs a Python with Ray.\n` +
      'Exit code: 0 all work was done, 1 work was never finished (with the reasons) or a safety rule was broken (with the\n' +
      'command that replays it), 2 a file cannot be used.',
    args: [
      {
        name: 'CLUSTER',
        summary: 'cluster file; may be left out with --demo or a workload that has a cluster',
        complete: 'file',
      },
    ],
    options: simulateOptions,
    examples: [
      'manta simulate --demo',
      'manta simulate cluster.yaml --tasks 500 --cpus 2 --duration 3m',
      'manta simulate cluster.yaml --workload nightly.yaml --faults spot-storm --seed 7',
      'manta simulate --workload burst --compare ray --html burst.html',
      'manta simulate --workloads published --seeds 5 --compare ray --markdown',
    ],
    load: () => import('./simulate.ts'),
  }),
];
