import { type Argument, type Command, defineCommand, type Option } from '../command.ts';
import { connectionOptions, rayLogOptions } from './cluster-options.ts';

const job: Argument = { name: 'JOB', summary: 'id of the job', required: true };

/** Of every command about jobs. */
export const jobOptions = [...connectionOptions, ...rayLogOptions] as const;

const outputOptions = [
  { name: 'tail', value: 'LINES', type: 'integer', summary: 'only the last lines, of the last attempt' },
  { name: 'grep', value: 'TEXT', summary: 'only lines that contain the text' },
  { name: 'since', value: 'WHEN', summary: 'only what came after: 10m, 2h, 1d, or a date and time' },
  { name: 'attempt', value: 'NUMBER', type: 'integer', summary: 'only this attempt, counted from 1' },
] as const satisfies readonly Option[];

const endCodes =
  'Exit code: 0 the job succeeded, its own exit code when it failed, 8 it was stopped, 9 it ended without an exit code\n' +
  'of its own (node lost, preempted, set-up failed, memory or time limit), 130 detached by Ctrl-C.';

export const jobSubmitOptions = [
  { name: 'submission-id', value: 'ID', summary: 'id of the job; the same id and content again is the same job' },
  { name: 'job-id', value: 'ID', summary: 'as --submission-id; deprecated by ray' },
  { name: 'runtime-env', value: 'FILE', summary: 'YAML file with a runtime_env', complete: 'file' },
  { name: 'runtime-env-json', value: 'JSON', summary: 'runtime_env as JSON' },
  {
    name: 'working-dir',
    value: 'PATH',
    summary: 'folder that the job runs in, uploaded when it changed; or the URI of a .zip; wins over --runtime-env',
    complete: 'directory',
  },
  { name: 'metadata-json', value: 'JSON', summary: 'texts to keep with the job' },
  { name: 'entrypoint-num-cpus', value: 'N', type: 'number', summary: 'CPUs to reserve for the entrypoint' },
  { name: 'entrypoint-num-gpus', value: 'N', type: 'number', summary: 'GPUs to reserve for the entrypoint' },
  { name: 'entrypoint-memory', value: 'BYTES', type: 'integer', summary: 'memory to reserve for the entrypoint' },
  { name: 'entrypoint-resources', value: 'JSON', summary: 'other resources to reserve: {"name": amount}' },
  { name: 'entrypoint-label-selector', value: 'JSON', summary: 'labels the node must have: {"key": "selector"}' },
  { name: 'no-wait', summary: 'print the id and leave' },
  {
    name: 'priority',
    value: 'N',
    type: 'integer',
    summary: 'higher starts first among your own jobs (without it 0)',
  },
  {
    name: 'retries',
    value: 'N|CAUSE=N,...',
    summary: 'run again up to N times; causes are failed, node_lost, preempted and setup_failed, N alone means all',
  },
  { name: 'time-limit', value: 'DURATION', summary: 'end an attempt that runs longer: 90s, 10m, 2h' },
  { name: 'start-after', value: 'WHEN', summary: 'not before: 10m from now, or a date and time' },
  { name: 'cron', value: 'SCHEDULE', summary: 'submit a copy at each time of a five-field schedule' },
  { name: 'depends-on', value: 'JOB', many: true, summary: 'start when this job has succeeded' },
  { name: 'gang', value: 'N', type: 'integer', summary: 'N times the resources, all at once' },
  { name: 'bundles', value: 'JSON', summary: 'a gang of these bundles: [{"CPU": 2}, {"GPU": 1}]' },
  {
    name: 'strategy',
    value: 'STRATEGY',
    choices: ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'],
    summary: 'how the bundles of a gang are spread over nodes (without it PACK)',
  },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobListOptions = [
  { name: 'state', value: 'STATE', many: true, summary: 'only jobs in this state: queued, running, failed, …' },
  { name: 'user', value: 'NAME', summary: "only this user's jobs" },
  { name: 'search', value: 'TEXT', summary: 'only jobs with this in their id, entrypoint or user' },
  { name: 'limit', value: 'N', type: 'integer', summary: 'no more than N jobs' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobLogsOptions = [
  { name: 'follow', short: 'f', summary: 'go on until the job is over' },
  ...outputOptions,
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobStopOptions = [
  { name: 'no-wait', summary: 'ask for it and leave' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobWaitOptions = [
  { name: 'timeout', value: 'DURATION', summary: 'wait no longer: 90s, 10m, 2h' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobRetryOptions = [
  { name: 'no-wait', summary: 'do not follow it' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobCommands: readonly Command[] = [
  defineCommand({
    path: ['job', 'submit'],
    inRay: true,
    summary: 'run a command on the cluster and follow its output',
    description:
      'Everything after -- is the entrypoint; a single word with blanks in it is taken as a line for the shell.\n' +
      "The job's output goes to standard output, to the last byte; what is said about it goes to standard error.\n" +
      'Following survives lost connections and restarts of the head. Ctrl-C asks whether to stop the job or to leave it\n' +
      'running; pressed again it leaves it running. With --json: lines {"attempt", "offset", "text"} (or "bytes", base64),\n' +
      'and at last {"id", "state", "exitCode"}.\n' +
      'Works with a plain Ray head too; options that Ray has no word for are refused there.\n' +
      endCodes,
    args: [{ name: 'ENTRYPOINT', summary: 'the command, if it has no options of its own', many: true }],
    passThrough: true,
    options: jobSubmitOptions,
    examples: [
      'manta job submit -- python train.py --epochs 3',
      'manta job submit --working-dir . --entrypoint-num-cpus 2 -- python train.py',
      "manta job submit --no-wait --retries node_lost=3 --time-limit 2h -- 'make data && make model'",
    ],
    load: () => import('./job-submit.ts'),
  }),
  defineCommand({
    path: ['job', 'list'],
    inRay: true,
    summary: 'list jobs, newest first',
    description: "With --json: one job a line, as the head's API gives it; values of env_vars are masked.",
    args: [],
    options: jobListOptions,
    examples: ['manta job list', 'manta job list --state queued --state running --json'],
    load: () => import('./job-list.ts'),
  }),
  defineCommand({
    path: ['job', 'status'],
    inRay: true,
    summary: 'say where a job stands',
    description:
      "With --json: the job as the head's API gives it. Exit code 0 whatever became of the job, as with ray.",
    args: [job],
    options: jobOptions,
    examples: ['manta job status raysubmit_4LamXRuQpYdSMg7J'],
    load: () => import('./job-status.ts'),
  }),
  defineCommand({
    path: ['job', 'logs'],
    inRay: true,
    summary: "print a job's output",
    description:
      'All attempts, one after the other. With -f until the job is over, through lost connections and restarts of the head.\n' +
      'With --json: lines {"attempt", "offset", "text"} (or "bytes", base64). Exit code 0, also when the job failed.',
    args: [job],
    options: jobLogsOptions,
    examples: ['manta job logs -f JOB', 'manta job logs --tail 100 --grep ERROR JOB'],
    load: () => import('./job-logs.ts'),
  }),
  defineCommand({
    path: ['job', 'stop'],
    inRay: true,
    summary: 'stop jobs and wait until they have ended',
    args: [{ ...job, many: true }],
    options: jobStopOptions,
    examples: ['manta job stop JOB'],
    load: () => import('./job-stop.ts'),
  }),
  defineCommand({
    path: ['job', 'delete'],
    inRay: true,
    summary: 'forget jobs that are over, and their output',
    args: [{ ...job, many: true }],
    options: jobOptions,
    examples: ['manta job delete JOB'],
    load: () => import('./job-delete.ts'),
  }),
  defineCommand({
    path: ['job', 'wait'],
    summary: 'wait until jobs are over',
    description: `Of several jobs, the first that did not succeed decides.\n${endCodes} 1 the time is up.`,
    args: [{ ...job, many: true }],
    options: jobWaitOptions,
    examples: ['manta job wait --timeout 1h JOB'],
    load: () => import('./job-wait.ts'),
  }),
  defineCommand({
    path: ['job', 'why'],
    summary: 'explain why a job is where it is, and what would change it',
    args: [job],
    options: jobOptions,
    examples: ['manta job why JOB'],
    load: () => import('./job-why.ts'),
  }),
  defineCommand({
    path: ['job', 'retry'],
    summary: 'run a job that is over once more, and follow it',
    description: `The job keeps its id and its earlier attempts.\n${endCodes}`,
    args: [job],
    options: jobRetryOptions,
    examples: ['manta job retry JOB'],
    load: () => import('./job-retry.ts'),
  }),
];
