import { rayVersion, releaseOf } from '../../../core/ray-version.ts';
import { type Command, defineCommand, type Option } from '../../command.ts';

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
  { name: 'workloads', value: 'SET', summary: 'run every workload of a set', choices: ['published', 'random'] },
  {
    name: 'count',
    value: 'N',
    type: 'integer',
    min: 1,
    max: 10_000,
    summary: 'with --workloads random: how many, from --seed on',
    default: 1,
  },
  { name: 'demo', summary: 'run a built-in cluster and workload, drawn live' },
  { name: 'tasks', value: 'N', type: 'integer', min: 1, max: 1_000_000, summary: 'run N equal tasks' },
  { name: 'cpus', value: 'N', type: 'number', min: 0, summary: 'CPUs per task', default: 1 },
  { name: 'gpus', value: 'N', type: 'number', min: 0, summary: 'GPUs per task' },
  { name: 'memory', value: 'GIB', type: 'number', min: 0, summary: 'memory per task, in GiB' },
  { name: 'duration', value: 'TIME', summary: 'how long each task takes, such as 90s or 5m', default: '2m' },
  { name: 'over', value: 'TIME', summary: 'submit over this period instead of all at once' },
  {
    name: 'idle',
    value: 'RULE',
    summary: 'when idle workers go, instead of what the cluster says',
    choices: ['timeout', 'economic'],
  },
  { name: 'faults', value: 'PROFILE', summary: 'failures to inject', choices: profiles, default: 'none' },
  { name: 'seed', value: 'N', type: 'integer', min: 0, summary: 'random seed', default: 1 },
  {
    name: 'seeds',
    value: 'N',
    type: 'integer',
    min: 1,
    summary: 'run this many seeds and report the means',
    default: 1,
  },
  {
    name: 'compare',
    value: 'WITH',
    summary: 'compare with ray, bound, offline; comma-separated',
  },
  {
    name: 'tries',
    value: 'N',
    type: 'integer',
    min: 0,
    max: 100_000,
    summary: 'schedules that --compare offline tries',
    default: 100,
  },
  { name: 'live', summary: 'draw the run live' },
  { name: 'html', value: 'FILE', summary: 'write an HTML report with charts', complete: 'file' },
  { name: 'markdown', summary: 'print a Markdown table of all workloads' },
] as const satisfies readonly Option[];

/** Trying out a cluster file without a cluster. */
export const simulateCommands: readonly Command[] = [
  defineCommand({
    path: ['simulate'],
    summary: 'simulate a workload on a cluster and report its time and cost',
    description:
      'Runs the real planner, loop and executor against a simulated cloud and engine in virtual time: hours take\n' +
      'less than a second. The same seed gives the same run. Prints the makespan, waiting times, node hours, the cost\n' +
      'if prices are known, and a chart of nodes and waiting work over time.\n' +
      `With --compare ray it also runs the planner of Ray ${releaseOf(rayVersion)}, which needs a Python with Ray; with bound\n` +
      'it prints what any schedule as fast must cost, and with offline it searches a good one with the whole future known.\n' +
      'Exit code: 0 all work finished, 1 some work never finished (with the reasons) or a safety rule was broken (with the\n' +
      'command that replays it), 2 a file cannot be used.',
    args: [
      {
        name: 'CLUSTER',
        summary: 'cluster file; optional with --demo or a workload that has a cluster',
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
      'manta simulate --workloads random --seed 100 --count 20 --compare bound,offline',
    ],
    load: () => import('./simulate.ts'),
  }),
];
