/** The jobs part of the OpenAPI document of `/api/manta/v1`; the head puts it together with its own. */

import {
  amount,
  amounts,
  answers,
  body,
  inPath,
  inQuery,
  json,
  listOf,
  object,
  type Paths,
  ref,
  type Schema,
  text,
  texts,
  whole,
} from './openapi-parts.ts';

const states = ['held', 'queued', 'starting', 'running', 'stopping', 'succeeded', 'failed', 'stopped'];

export const jobSchemas: Readonly<Record<string, Schema>> = {
  Error: object({ error: object({ code: text, message: text, hint: text }, ['code', 'message']) }, ['error']),
  JobState: { type: 'string', enum: states },
  JobRow: object(
    {
      id: text,
      user: text,
      entrypoint: text,
      state: ref('JobState'),
      message: text,
      priority: whole,
      resources: amounts,
      attempts: whole,
      submittedAt: whole,
      startedAt: whole,
      endedAt: whole,
      exitCode: whole,
      node: text,
    },
    ['id', 'user', 'entrypoint', 'state', 'message', 'priority', 'resources', 'attempts', 'submittedAt'],
  ),
  Attempt: object(
    {
      id: text,
      number: whole,
      node: text,
      submission: text,
      driver: object({ id: text, address: text, pid: text }, ['id', 'address', 'pid']),
      startedAt: whole,
      endedAt: whole,
      cause: text,
      exitCode: whole,
      message: text,
    },
    ['id', 'number'],
  ),
  Job: object(
    {
      id: text,
      user: text,
      entrypoint: text,
      state: ref('JobState'),
      message: text,
      runtimeEnv: { type: 'object' },
      metadata: texts,
      resources: amounts,
      labels: texts,
      gang: ref('Gang'),
      priority: whole,
      retries: object({ failed: whole, nodeLost: whole, preempted: whole, setupFailed: whole }),
      timeLimit: amount,
      startAfter: whole,
      cron: text,
      dependsOn: listOf(text),
      submittedAt: whole,
      attempts: listOf(ref('Attempt')),
      errorType: text,
      exitCode: whole,
      startedAt: whole,
      endedAt: whole,
      stopAskedAt: whole,
      notBefore: whole,
      firings: whole,
    },
    ['id', 'user', 'entrypoint', 'state', 'message', 'submittedAt', 'attempts'],
  ),
  Gang: object(
    {
      bundles: listOf(amounts),
      strategy: { type: 'string', enum: ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'] },
    },
    ['bundles'],
  ),
  Submission: object(
    {
      id: text,
      entrypoint: text,
      runtime_env: { type: 'object' },
      metadata: texts,
      resources: amounts,
      labels: texts,
      gang: ref('Gang'),
      priority: whole,
      retries: object({ failed: whole, node_lost: whole, preempted: whole, setup_failed: whole }),
      time_limit_s: amount,
      start_after: whole,
      cron: text,
      depends_on: listOf(text),
    },
    ['entrypoint'],
  ),
  User: object({ name: text, admin: { type: 'boolean' }, weight: amount, createdAt: whole, revokedAt: whole }, [
    'name',
    'admin',
    'weight',
    'createdAt',
  ]),
};

const job = [inPath('id')];

export const jobPaths: Paths = {
  '/jobs': {
    get: {
      summary: 'Jobs, newest first; values of env_vars are not part of a row',
      parameters: [
        inQuery('state', text, 'States, parted by commas'),
        inQuery('user', text, 'Of one user'),
        inQuery('search', text, 'Part of id, entrypoint or user, whatever its case'),
        inQuery('limit', whole, 'At most 1000; 100 when not given'),
        inQuery('before', text, '`next` of the page before'),
        inQuery('others', whole, '1: beside them those that were submitted to Ray itself, as `others`'),
      ],
      responses: answers(
        json(
          'A page',
          object({ jobs: listOf(ref('JobRow')), total: whole, next: text, others: listOf(object({})) }, [
            'jobs',
            'total',
          ]),
        ),
      ),
    },
    post: {
      summary: 'Submit; the same id with the same work answers with the job that is there',
      requestBody: body(ref('Submission')),
      responses: answers(json('The job, on disk', ref('Job'))),
    },
  },
  '/jobs/{id}': {
    get: { summary: 'A job; in full for its owner', parameters: job, responses: answers(json('The job', ref('Job'))) },
    delete: {
      summary: 'Delete a job that is over, with its output',
      parameters: job,
      responses: answers({ description: 'Gone' }, '204'),
    },
  },
  '/jobs/{id}/stop': {
    post: {
      summary: 'Stop, in whatever state; a job that is over stays as it is',
      parameters: job,
      responses: answers(json('The job', ref('Job'))),
    },
  },
  '/jobs/{id}/retry': {
    post: {
      summary: 'Run a job that is over once more',
      parameters: job,
      responses: answers(json('The job', ref('Job'))),
    },
  },
  '/jobs/{id}/logs': {
    get: {
      summary: 'Output of an attempt; headers manta-offset, manta-next and manta-end say where it lies',
      parameters: [
        ...job,
        inQuery('attempt', whole, 'The last one when not given'),
        inQuery('offset', whole, 'First byte'),
        inQuery('limit', whole, 'Bytes, at most 8 MiB'),
        inQuery('tail', whole, 'The last lines instead'),
        inQuery('grep', text, 'Only lines that contain this'),
        inQuery('since', whole, 'From this instant on, in ms since 1970'),
      ],
      responses: answers({ description: 'Bytes', content: { 'text/plain': { schema: text } } }),
    },
  },
  '/jobs/{id}/logs/follow': {
    get: {
      summary: 'Output as it comes, server-sent; resume with Last-Event-ID; ends with an `end` event',
      parameters: [
        ...job,
        inQuery('attempt', whole, 'The last one when not given'),
        inQuery('offset', whole, 'First byte'),
      ],
      responses: answers({ description: 'Events', content: { 'text/event-stream': { schema: text } } }),
    },
  },
  '/users': {
    get: {
      summary: 'Users; for administrators',
      responses: answers(json('Users', object({ users: listOf(ref('User')) }, ['users']))),
    },
    post: {
      summary: 'A new user; the token is shown this once',
      requestBody: body(object({ name: text, admin: { type: 'boolean' }, weight: amount }, ['name'])),
      responses: answers(json('The user and the token', object({ user: ref('User'), token: text }, ['user', 'token']))),
    },
  },
  '/users/{name}': {
    delete: {
      summary: 'Revoke: every token of the user ends at once',
      parameters: [inPath('name')],
      responses: answers(json('The user', ref('User'))),
    },
  },
  '/tickets': {
    post: {
      summary: 'A word that opens the page in a browser, once and within a minute',
      responses: answers(json('The ticket', object({ ticket: text }, ['ticket']))),
    },
  },
};
