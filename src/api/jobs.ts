import * as v from 'valibot';
import { limits } from './limits.ts';
import { route } from './route.ts';
import {
  amount,
  amounts,
  anything,
  between,
  count,
  given,
  instant,
  listOf,
  mapOf,
  maybe,
  object,
  oneOf,
  orNull,
  text,
  texts,
  textUpTo,
  type Wire,
  whole,
} from './schema.ts';

const states = ['held', 'queued', 'starting', 'running', 'stopping', 'succeeded', 'failed', 'stopped'] as const;
export const jobState = oneOf(...states);
export type WireJobState = Wire<typeof jobState>;

/** How many jobs are in each state. */
export const jobCounts = object({
  held: count,
  queued: count,
  starting: count,
  running: count,
  stopping: count,
  succeeded: count,
  failed: count,
  stopped: count,
});

/** A job in a listing; values of `env_vars` are not part of it. */
export const jobRow = object({
  id: text,
  user: text,
  entrypoint: text,
  state: jobState,
  message: text,
  priority: whole,
  resources: amounts,
  attempts: count,
  submittedAt: instant,
  startedAt: maybe(instant),
  endedAt: maybe(instant),
  exitCode: maybe(whole),
  node: maybe(text),
});
export type JobRow = Wire<typeof jobRow>;

/** A job that was submitted to Ray itself, or a driver that was started by hand: none of the queue's. */
export const otherRow = object({
  id: text,
  submittedTo: oneOf('ray'),
  state: jobState,
  entrypoint: text,
  submittedAt: maybe(instant),
  endedAt: maybe(instant),
});
export type OtherRow = Wire<typeof otherRow>;

const jobsAnswer = object({
  jobs: listOf(jobRow),
  /** How many match state, user and search. */
  total: count,
  /** Give as `before` for the next page. */
  next: maybe(text),
  /** Only where they were asked for and there are some. */
  others: maybe(listOf(otherRow)),
});
export type JobsAnswer = Wire<typeof jobsAnswer>;

const strategy = oneOf('PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD');

export const attempt = object({
  id: text,
  number: count,
  node: maybe(text),
  /** Its name at Ray, where it has another than the job. */
  submission: maybe(text),
  /** The program that joined Ray, as Ray tells of it. */
  driver: maybe(object({ id: text, address: text, pid: text })),
  accepted: maybe(v.boolean()),
  endsFor: maybe(oneOf('time-limit')),
  startedAt: maybe(instant),
  endedAt: maybe(instant),
  cause: maybe(
    oneOf(
      'succeeded',
      'failed',
      'stopped',
      'node-lost',
      'preempted',
      'setup-failed',
      'memory-limit',
      'time-limit',
      'start-failed',
    ),
  ),
  exitCode: maybe(whole),
  message: maybe(text),
});

/** A job; values of its `env_vars` for its owner alone. */
export const job = object({
  id: text,
  user: text,
  entrypoint: text,
  state: jobState,
  message: text,
  runtimeEnv: anything,
  metadata: texts,
  resources: amounts,
  labels: texts,
  gang: maybe(object({ bundles: listOf(amounts), strategy })),
  priority: whole,
  retries: object({ failed: count, nodeLost: count, preempted: count, setupFailed: count }),
  /** Of one attempt, in milliseconds. */
  timeLimit: maybe(amount),
  startAfter: maybe(instant),
  cron: maybe(text),
  dependsOn: listOf(text),
  submittedAt: instant,
  attempts: listOf(attempt),
  errorType: maybe(text),
  exitCode: maybe(whole),
  startedAt: maybe(instant),
  endedAt: maybe(instant),
  stopAskedAt: maybe(instant),
  notBefore: maybe(instant),
  firings: maybe(count),
  budgetFrom: maybe(count),
});
export type JobAnswer = Wire<typeof job>;
export type WireEndCause = NonNullable<JobAnswer['attempts'][number]['cause']>;

const many = `${limits.names}`;
const asked = v.pipe(
  mapOf(v.pipe(amount, v.minValue(0, 'is negative; amounts must be 0 or more'))),
  v.maxEntries(limits.names, `names more than ${many} resources`),
);
const retries = orNull(between(0, limits.retries));

export const submission = given('a job', {
  id: orNull(textUpTo(limits.idLength)),
  entrypoint: v.pipe(text, v.description(`A shell command of at most ${limits.entrypointBytes} bytes`)),
  runtime_env: orNull(anything),
  metadata: orNull(texts),
  resources: orNull(asked),
  labels: orNull(texts),
  gang: orNull(
    given('a gang', {
      bundles: v.pipe(
        listOf(asked),
        v.minLength(1, `must have 1 to ${limits.bundles} bundles`),
        v.maxLength(limits.bundles, `must have 1 to ${limits.bundles} bundles`),
      ),
      strategy: orNull(strategy),
    }),
  ),
  priority: orNull(between(-limits.priority, limits.priority)),
  retries: orNull(given('retries', { failed: retries, node_lost: retries, preempted: retries, setup_failed: retries })),
  time_limit_s: orNull(amount),
  start_after: orNull(instant),
  cron: orNull(text),
  depends_on: orNull(
    v.pipe(listOf(text), v.maxLength(limits.dependencies, `names more than ${limits.dependencies} jobs`)),
  ),
});
export type GivenSubmission = Wire<typeof submission>;
/** As Manta's own clients send it: what they have nothing to say of they leave out. */
export type SubmitBody = { readonly [Key in keyof GivenSubmission]: NonNullable<GivenSubmission[Key]> };

/** A piece of output: its text, or in base64 what is not UTF-8. */
export const logChunk = object({ offset: count, next: count, text: maybe(text), bytes: maybe(text) });
export type LogChunk = Wire<typeof logChunk>;

/** The last event of output that is followed. */
export const logEnd = object({
  state: jobState,
  attempt: count,
  attempts: count,
  cause: maybe(text),
  exitCode: maybe(whole),
});
export type LogEnd = Wire<typeof logEnd>;

const id = { id: { schema: text, what: 'A job id' } };
const ofAttempt = {
  attempt: maybe(v.pipe(count, v.description('Default: the last one'))),
  offset: maybe(v.pipe(count, v.description('First byte'))),
};
const anyStates = `(?:${states.join('|')})`;

export const jobRoutes = {
  list: route({
    method: 'GET',
    path: '/jobs',
    id: 'listJobs',
    summary: 'List jobs, newest first; rows do not include values of env_vars',
    role: 'user',
    query: {
      state: maybe(
        v.pipe(
          text,
          v.regex(
            new RegExp(`^(?:${anyStates}(?:,${anyStates})*)?$`),
            `is not a comma-separated list of ${states.join(', ')}`,
          ),
          v.description('Comma-separated states'),
        ),
      ),
      user: maybe(v.pipe(text, v.description("Only this user's jobs"))),
      search: maybe(
        v.pipe(text, v.description('Only jobs with this text in their id, user or shown entrypoint; case-insensitive')),
      ),
      limit: maybe(v.pipe(count, v.description(`At most ${limits.jobs.most}; default ${limits.jobs.usual}`))),
      before: maybe(v.pipe(text, v.description('`next` of the previous page'))),
      others: maybe(
        v.pipe(
          between(0, 1),
          v.description(`1: also jobs submitted directly to Ray, as \`others\`, at most ${limits.others}`),
        ),
      ),
    },
    answer: { what: 'A page', schema: jobsAnswer },
  }),
  submit: route({
    method: 'POST',
    path: '/jobs',
    id: 'submitJob',
    summary: 'Submit a job; the same id with the same content returns the existing job',
    role: 'user',
    body: submission,
    bodyLimit: limits.largeBody,
    answer: { what: 'The job, saved to disk', schema: job },
    refusals: [404, 409, 422, 507],
  }),
  get: route({
    method: 'GET',
    path: '/jobs/{id}',
    id: 'getJob',
    summary: 'Get a job; in full for its owner',
    role: 'user',
    params: id,
    answer: { what: 'The job', schema: job },
    refusals: [404],
  }),
  remove: route({
    method: 'DELETE',
    path: '/jobs/{id}',
    id: 'deleteJob',
    summary: 'Delete a finished job and its output',
    role: 'owner',
    params: id,
    answer: { what: 'Gone' },
    refusals: [404, 409, 507],
  }),
  stop: route({
    method: 'POST',
    path: '/jobs/{id}/stop',
    id: 'stopJob',
    summary: 'Stop a job in any state; a finished job does not change',
    role: 'owner',
    params: id,
    answer: { what: 'The job', schema: job },
    refusals: [404, 507],
  }),
  retry: route({
    method: 'POST',
    path: '/jobs/{id}/retry',
    id: 'retryJob',
    summary: 'Run a finished job again',
    role: 'owner',
    params: id,
    answer: { what: 'The job', schema: job },
    refusals: [404, 409, 507],
  }),
  logs: route({
    method: 'GET',
    path: '/jobs/{id}/logs',
    id: 'readLogs',
    summary: 'Get the output of an attempt; the headers manta-offset, manta-next and manta-end give its position',
    role: 'owner',
    params: id,
    query: {
      ...ofAttempt,
      limit: maybe(v.pipe(count, v.description('Number of bytes, at most 8 MiB'))),
      tail: maybe(v.pipe(count, v.description('Return this many last lines instead'))),
      grep: maybe(
        v.pipe(
          text,
          v.maxBytes(limits.grepBytes, `is longer than ${limits.grepBytes} bytes`),
          v.description(`Only lines that contain this text, at most ${limits.grepBytes} bytes`),
        ),
      ),
      since: maybe(v.pipe(count, v.description('Only output after this time, in ms since 1970'))),
    },
    answer: {
      what: 'Bytes',
      content: 'text/plain',
      headers: {
        'manta-attempt': 'The attempt',
        'manta-offset': 'Offset of the first byte',
        'manta-next': 'Offset for the next request',
        'manta-end': '`true` when there is no more output',
      },
    },
    refusals: [404],
  }),
  follow: route({
    method: 'GET',
    path: '/jobs/{id}/logs/follow',
    id: 'followLogs',
    summary: 'Stream output as server-sent events; resume with Last-Event-ID; ends with an `end` event',
    role: 'owner',
    params: id,
    query: ofAttempt,
    answer: { what: 'Events', content: 'text/event-stream', events: { message: logChunk, end: logEnd } },
    refusals: [404],
  }),
};
