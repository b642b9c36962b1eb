import { jobPaths, jobSchemas } from '../../jobs/manta-api/openapi.ts';
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
} from '../../jobs/manta-api/openapi-parts.ts';

const flag: Schema = { type: 'boolean' };
const anything: Schema = { type: 'object' };
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const usage: Schema = {
  type: 'object',
  additionalProperties: object({ used: amount, total: amount }, ['used', 'total']),
};

const headSchemas: Readonly<Record<string, Schema>> = {
  Cluster: object(
    {
      name: text,
      engine: oneOf('embedded', 'ray'),
      mantaVersion: text,
      startedAt: whole,
      now: whole,
      user: text,
      nodeTypes: listOf(
        object(
          { name: text, head: flag, resources: amounts, minWorkers: whole, maxWorkers: whole, pricePerHour: amount },
          ['name', 'head', 'resources', 'minWorkers', 'maxWorkers'],
        ),
      ),
      maxWorkers: whole,
      nodes: object({ running: whole, pending: whole, draining: whole, failed: whole }, [
        'running',
        'pending',
        'draining',
        'failed',
      ]),
      usage,
      jobs: { type: 'object', additionalProperties: whole },
      cost: object({ perHour: amount, spent: amount, currency: text }, ['perHour', 'spent']),
      synced: flag,
      unknown: listOf(text),
      turnOff: ref('TurnOff'),
    },
    ['name', 'engine', 'mantaVersion', 'startedAt', 'now', 'user', 'nodeTypes', 'nodes', 'usage', 'jobs', 'synced'],
  ),
  TurnOff: object(
    {
      idleShutdown: amount,
      maxLifetime: amount,
      until: amount,
      keepUntil: amount,
      idleSince: amount,
      busyWith: text,
      at: amount,
      because: oneOf('idle', 'lifetime', 'until', 'asked'),
      soon: flag,
      text,
    },
    ['soon', 'text'],
  ),
  Node: object(
    {
      instance: text,
      node: text,
      type: text,
      kind: oneOf('head', 'worker'),
      status: text,
      since: whole,
      requestedAt: whole,
      idleFor: amount,
      total: amounts,
      available: amounts,
      jobs: listOf(text),
      zone: text,
      market: text,
      pricePerHour: amount,
      launchedBecause: text,
      endsBecause: text,
      byHand: flag,
    },
    ['instance', 'type', 'kind', 'status', 'since', 'requestedAt', 'total', 'available', 'jobs'],
  ),
  Request: object({ resources: amounts, selectors: listOf(texts), placement: listOf(anything) }, ['resources']),
  TaskDemand: object({ request: ref('Request'), count: whole }, ['request', 'count']),
  Demand: object(
    {
      demand: object(
        {
          tasks: listOf(ref('TaskDemand')),
          gangs: listOf(object({ id: text, requests: listOf(ref('Request')), details: text }, ['id', 'requests'])),
          standing: listOf(object({ requests: listOf(ref('TaskDemand')) }, ['requests'])),
        },
        ['tasks', 'gangs', 'standing'],
      ),
      waiting: listOf(object({ demand: anything, for: listOf(anything), until: whole, text }, ['demand', 'text'])),
      infeasible: listOf(object({ kind: text, types: listOf(anything), text }, ['kind', 'types', 'text'])),
    },
    ['demand', 'waiting', 'infeasible'],
  ),
  Event: object(
    {
      seq: whole,
      at: whole,
      code: text,
      level: text,
      text,
      job: text,
      instance: text,
      type: text,
      host: text,
      node: text,
      failure: text,
    },
    ['seq', 'at', 'code', 'level', 'text'],
  ),
  Sample: object(
    { at: whole, nodes: { type: 'object', additionalProperties: whole }, usage, queued: whole, running: whole },
    ['at', 'nodes', 'usage', 'queued', 'running'],
  ),
  Mark: object({ at: whole, kind: oneOf('launch', 'end', 'failure'), type: text, count: whole, because: text }, [
    'at',
    'kind',
    'type',
    'count',
    'because',
  ]),
  Why: object(
    {
      subject: text,
      state: text,
      chain: listOf(object({ at: whole, text, data: anything }, ['at', 'text'])),
      next: listOf(text),
    },
    ['subject', 'state', 'chain', 'next'],
  ),
  JournalFact: object({ seq: whole, at: whole, kind: text }, ['seq', 'at', 'kind']),
};

const headPaths: Paths = {
  '/cluster': {
    get: { summary: 'The cluster at a glance', responses: answers(json('The cluster', ref('Cluster'))) },
  },
  '/nodes': {
    get: {
      summary: 'Instances and the nodes on them, with why each is there',
      responses: answers(json('Nodes', object({ nodes: listOf(ref('Node')) }, ['nodes']))),
    },
  },
  '/nodes/{id}/drain': {
    post: {
      summary:
        'Empty a node and end its instance. Where the reason is that it is idle, a node with work on it refuses; a preemption is not refused, and its work has `within` milliseconds left',
      parameters: [inPath('id')],
      requestBody: body(object({ reason: oneOf('idle', 'preemption'), within: whole }, [])),
      responses: answers(
        json('Whether it will', object({ instance: text, accepted: flag, reason: text }, ['instance', 'accepted'])),
      ),
    },
  },
  '/nodes/{id}/end': {
    post: {
      summary: 'End the instance of a worker at once, with what runs on it; for administrators',
      parameters: [inPath('id')],
      responses: answers(json('Whether it will', object({ instance: text, accepted: flag }, ['instance', 'accepted']))),
    },
  },
  '/demand': {
    get: {
      summary: 'What asks for room, what holds it up, and what can never be placed',
      responses: answers(json('Demand', ref('Demand'))),
    },
  },
  '/events': {
    get: {
      summary: 'What happened, oldest first',
      parameters: [
        inQuery('after', whole, 'Those after this `seq`; the newest when not given'),
        inQuery('limit', whole, 'At most 2000; 200 when not given'),
      ],
      responses: answers(json('Events', object({ events: listOf(ref('Event')) }, ['events']))),
    },
  },
  '/history': {
    get: {
      summary: 'Nodes, usage and jobs over time, with launches and ends marked',
      parameters: [
        inQuery('since', whole, 'In ms since 1970; an hour before `until` when not given'),
        inQuery('until', whole, 'In ms since 1970; now when not given'),
        inQuery('points', whole, 'At most 5000; 600 when not given'),
      ],
      responses: answers(
        json(
          'Samples and marks',
          object({ samples: listOf(ref('Sample')), marks: listOf(ref('Mark')) }, ['samples', 'marks']),
        ),
      ),
    },
  },
  '/journal': {
    get: {
      summary: 'The newest facts of scaling and of jobs, without credentials; for administrators',
      parameters: [inQuery('limit', whole, 'Of each; at most 10000, 1000 when not given')],
      responses: answers(
        json(
          'Facts, oldest first',
          object({ scaling: listOf(ref('JournalFact')), jobs: listOf(ref('JournalFact')) }, ['scaling', 'jobs']),
        ),
      ),
    },
  },
  '/stream': {
    get: {
      summary: 'Changes as they come, server-sent: event, job, nodes, cluster, sample, mark; resume with Last-Event-ID',
      parameters: [inQuery('after', whole, 'As Last-Event-ID')],
      responses: answers({ description: 'Events', content: { 'text/event-stream': { schema: text } } }),
    },
  },
  '/status': {
    get: {
      summary: "The status: Ray's text, short and long, and the facts behind it",
      responses: answers(
        json(
          'The status',
          object(
            { text, verboseText: text, status: anything, synced: flag, unknown: listOf(text), turnOff: ref('TurnOff') },
            ['text', 'verboseText', 'status'],
          ),
        ),
      ),
    },
  },
  '/why/{kind}/{id}': {
    get: {
      summary: 'Why a job, a node or demand is where it is; `kind` is job, node or demand',
      parameters: [inPath('kind'), inPath('id')],
      responses: answers(json('The chain of causes, oldest first', ref('Why'))),
    },
  },
  '/request-resources': {
    post: {
      summary: 'Keep room for these bundles at once, until the next request; an empty list withdraws it',
      requestBody: body(
        object({ bundles: listOf(object({ resources: amounts, count: whole }, ['resources'])) }, ['bundles']),
      ),
      responses: answers(json('What is asked for now', object({ requests: listOf(ref('TaskDemand')) }, ['requests']))),
    },
  },
  '/extend': {
    post: {
      summary:
        'Keep a cluster that ends by itself for longer, by a length of time or until an instant; for administrators',
      requestBody: body(object({ by: amount, until: amount }, [])),
      responses: answers(json('When it ends now', object({ turnOff: ref('TurnOff') }, []))),
    },
  },
  '/reload': {
    post: {
      summary: "Apply the cluster's file again, without touching jobs; for administrators",
      responses: answers(json('The cluster', object({ name: text }, ['name']))),
    },
  },
  '/openapi.json': {
    get: { summary: 'This document', responses: answers(json('OpenAPI 3.1', anything)) },
  },
};

/** Manta's own HTTP API, all of it. */
export function openapiDocument(mantaVersion: string): { readonly paths: Paths } & Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Manta',
      version: mantaVersion,
      description: 'Times are milliseconds since 1970, sizes are bytes.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/manta/v1' }],
    security: [{ token: [] }],
    paths: { ...headPaths, ...jobPaths },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { ...headSchemas, ...jobSchemas },
    },
  };
}
