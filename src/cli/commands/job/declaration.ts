import { type Argument, type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions, rayLogOptions } from '../../shared/cluster-options.ts';

const job: Argument = { name: 'JOB', summary: 'id of the job', required: true };

/** Of every command about jobs. */
export const jobOptions = [...connectionOptions, ...rayLogOptions] as const;

const outputOptions = [
  { name: 'tail', value: 'LINES', type: 'integer', summary: 'only the last lines of the last attempt' },
  { name: 'grep', value: 'TEXT', summary: 'only lines that contain the text' },
  { name: 'since', value: 'WHEN', summary: 'only output after this: 10m, 2h, 1d, or a date and time' },
  { name: 'attempt', value: 'NUMBER', type: 'integer', summary: 'only this attempt, starting at 1' },
] as const satisfies readonly Option[];

const endCodes =
  "Exit code: 0 the job succeeded, the job's own exit code if it failed, 8 it was stopped, 9 it ended without an exit code\n" +
  '(node lost, preempted, setup failed, memory or time limit), 130 detached with Ctrl-C.';

export const jobSubmitOptions = [
  { name: 'submission-id', value: 'ID', summary: 'job id; submitting the same id and content again is safe' },
  { name: 'job-id', value: 'ID', summary: 'same as --submission-id (deprecated in ray)' },
  { name: 'runtime-env', value: 'FILE', summary: 'YAML file with a runtime_env', complete: 'file' },
  { name: 'runtime-env-json', value: 'JSON', summary: 'runtime_env as JSON' },
  {
    name: 'working-dir',
    value: 'PATH',
    summary: 'folder to upload, or archive URI; overrides --runtime-env',
    complete: 'directory',
  },
  { name: 'metadata-json', value: 'JSON', summary: 'metadata to store with the job: {"key": "value"}' },
  { name: 'entrypoint-num-cpus', value: 'N', type: 'number', summary: 'CPUs to reserve for the entrypoint' },
  { name: 'entrypoint-num-gpus', value: 'N', type: 'number', summary: 'GPUs to reserve for the entrypoint' },
  { name: 'entrypoint-memory', value: 'BYTES', type: 'integer', summary: 'memory to reserve for the entrypoint' },
  { name: 'entrypoint-resources', value: 'JSON', summary: 'other resources to reserve: {"name": amount}' },
  { name: 'entrypoint-label-selector', value: 'JSON', summary: 'labels the node must have: {"key": "selector"}' },
  { name: 'no-wait', summary: 'print the id and return' },
  {
    name: 'priority',
    value: 'N',
    type: 'integer',
    summary: 'your jobs with a higher priority start first (default: 0)',
  },
  {
    name: 'retries',
    value: 'N|CAUSE=N,...',
    summary: 'retries per cause: failed, node_lost, preempted, setup_failed',
  },
  { name: 'time-limit', value: 'DURATION', summary: 'stop an attempt that runs longer: 90s, 10m, 2h' },
  { name: 'start-after', value: 'WHEN', summary: 'do not start before: 10m from now, or a date and time' },
  { name: 'cron', value: 'SCHEDULE', summary: 'submit a copy on this five-field cron schedule' },
  { name: 'depends-on', value: 'JOB', many: true, summary: 'start after this job has succeeded' },
  {
    name: 'tpu',
    value: 'TYPE',
    summary: 'run on whole TPU slices of this type, such as v4-64',
    excludes: ['gang', 'bundles', 'strategy'],
  },
  {
    name: 'slices',
    value: 'N',
    type: 'integer',
    summary: 'how many slices, all at once (default: 1)',
    needs: ['tpu'],
  },
  { name: 'gang', value: 'N', type: 'integer', summary: 'reserve the resources N times, all at once' },
  { name: 'bundles', value: 'JSON', summary: 'reserve these bundles as a gang: [{"CPU": 2}, {"GPU": 1}]' },
  {
    name: 'strategy',
    value: 'STRATEGY',
    choices: ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'],
    summary: 'how to place the bundles of a gang on nodes (default: PACK)',
    needs: ['gang', 'bundles'],
  },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobListOptions = [
  { name: 'state', value: 'STATE', many: true, summary: 'only jobs in this state: queued, running, failed, …' },
  { name: 'user', value: 'NAME', summary: "only this user's jobs" },
  { name: 'search', value: 'TEXT', summary: 'only jobs with this text in their id, entrypoint or user' },
  { name: 'limit', value: 'N', type: 'integer', summary: 'at most N jobs' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobLogsOptions = [
  { name: 'follow', short: 'f', summary: 'follow the output until the job finishes' },
  ...outputOptions,
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobStopOptions = [
  { name: 'no-wait', summary: 'return without waiting for the jobs to stop' },
  ...jobOptions,
] as const satisfies readonly Option[];

export const jobWaitOptions = [
  { name: 'timeout', value: 'DURATION', summary: 'give up waiting after this long: 90s, 10m, 2h' },
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
      'Everything after -- is the entrypoint; a single word that contains spaces is run by the shell.\n' +
      "The job's output goes to standard output; messages about the job go to standard error.\n" +
      'Following survives lost connections and restarts of the head. Ctrl-C asks whether to stop the job or leave it\n' +
      'running; a second Ctrl-C leaves it running. With --json: lines {"attempt", "offset", "text"} (or "bytes", base64),\n' +
      'then {"id", "state", "exitCode"}.\n' +
      '--retries N allows N retries for every cause; CAUSE=N sets the number for one cause.\n' +
      'Also works with a plain Ray head, which refuses options that Ray does not have.\n' +
      endCodes,
    args: [{ name: 'ENTRYPOINT', summary: 'the command, if it has no options of its own', many: true }],
    passThrough: true,
    options: jobSubmitOptions,
    examples: [
      'manta job submit -- python train.py --epochs 3',
      'manta job submit --working-dir . --entrypoint-num-cpus 2 -- python train.py',
      "manta job submit --no-wait --retries node_lost=3 --time-limit 2h -- 'make data && make model'",
    ],
    load: () => import('./submit.ts'),
  }),
  defineCommand({
    path: ['job', 'list'],
    inRay: true,
    summary: 'list jobs, newest first',
    description: "With --json: one job per line, as the head's API returns it; values of env_vars are masked.",
    args: [],
    options: jobListOptions,
    examples: ['manta job list', 'manta job list --state queued --state running --json'],
    load: () => import('./list.ts'),
  }),
  defineCommand({
    path: ['job', 'status'],
    inRay: true,
    summary: 'show the status of a job',
    description:
      "With --json: the job as the head's API returns it. The exit code is 0 whatever the job's status, as in ray.",
    args: [job],
    options: jobOptions,
    examples: ['manta job status raysubmit_4LamXRuQpYdSMg7J'],
    load: () => import('./status.ts'),
  }),
  defineCommand({
    path: ['job', 'logs'],
    inRay: true,
    summary: "print a job's output",
    description:
      'Prints all attempts in order. With -f it follows until the job finishes, through lost connections and restarts of the head.\n' +
      'With --json: lines {"attempt", "offset", "text"} (or "bytes", base64). The exit code is 0 even if the job failed.',
    args: [job],
    options: jobLogsOptions,
    examples: ['manta job logs -f JOB', 'manta job logs --tail 100 --grep ERROR JOB'],
    load: () => import('./logs.ts'),
  }),
  defineCommand({
    path: ['job', 'stop'],
    inRay: true,
    summary: 'stop jobs and wait until they have stopped',
    args: [{ ...job, many: true }],
    options: jobStopOptions,
    examples: ['manta job stop JOB'],
    load: () => import('./stop.ts'),
  }),
  defineCommand({
    path: ['job', 'delete'],
    inRay: true,
    summary: 'delete finished jobs and their output',
    args: [{ ...job, many: true }],
    options: jobOptions,
    examples: ['manta job delete JOB'],
    load: () => import('./delete.ts'),
  }),
  defineCommand({
    path: ['job', 'wait'],
    summary: 'wait until jobs finish',
    description: `With several jobs, the first one that did not succeed sets the exit code.\n${endCodes} 1 the timeout expired.`,
    args: [{ ...job, many: true }],
    options: jobWaitOptions,
    examples: ['manta job wait --timeout 1h JOB'],
    load: () => import('./wait.ts'),
  }),
  defineCommand({
    path: ['job', 'why'],
    summary: 'explain the state of a job, and what would change it',
    args: [job],
    options: jobOptions,
    examples: ['manta job why JOB'],
    load: () => import('./why.ts'),
  }),
  defineCommand({
    path: ['job', 'retry'],
    summary: 'run a finished job again and follow it',
    description: `The job keeps its id and its earlier attempts.\n${endCodes}`,
    args: [job],
    options: jobRetryOptions,
    examples: ['manta job retry JOB'],
    load: () => import('./retry.ts'),
  }),
];
