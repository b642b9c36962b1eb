import * as v from 'valibot';
import { cluster, node, usage } from './cluster.ts';
import { jobRow } from './jobs.ts';
import { limits } from './limits.ts';
import { route } from './route.ts';
import { anything, count, instant, listOf, mapOf, maybe, object, oneOf, text, type Wire } from './schema.ts';

export const event = object({
  seq: count,
  at: instant,
  code: text,
  level: oneOf('debug', 'info', 'warn', 'error', 'result'),
  text,
  job: maybe(text),
  instance: maybe(text),
  type: maybe(text),
  /** Machine that it is about, as the cluster file names it. */
  host: maybe(text),
  /** Node that is being set up. */
  node: maybe(text),
  /** Code of the error for which a machine could not be set up. */
  failure: maybe(text),
});
export type EventAnswer = Wire<typeof event>;

/** How the cluster looked at one instant. */
export const sample = object({
  at: instant,
  /** Running nodes by type, and pending ones as `<type>+`. */
  nodes: mapOf(count),
  usage,
  queued: count,
  running: count,
});
export type SamplePoint = Wire<typeof sample>;

export const mark = object({
  at: instant,
  kind: oneOf('launch', 'end', 'failure'),
  type: text,
  count,
  because: text,
});
export type Mark = Wire<typeof mark>;

/** A fact of the journal; what else is in it depends on its kind. */
export const fact = object({ seq: count, at: instant, kind: text });
const journalAnswer = object({ scaling: listOf(fact), jobs: listOf(fact) });
export type JournalAnswer = Wire<typeof journalAnswer>;

/** The chain of causes, oldest first. */
const why = object({
  subject: text,
  state: text,
  chain: listOf(object({ at: instant, text, data: maybe(v.unknown()) })),
  /** What the user could change, in words. */
  next: listOf(text),
});
export type WhyAnswer = Wire<typeof why>;

/**
 * What the stream tells. Only an `event` carries an id: the others are states, and anyone who was away asks for them again.
 * `nodes` is the whole list, at most every 500 ms; `cluster` comes at most every second.
 */
const stream = { event, job: jobRow, nodes: listOf(node), cluster, sample, mark };
export type StreamKind = keyof typeof stream;

const pastRoute = { role: 'user', method: 'GET' } as const;

export const pastRoutes = {
  events: route({
    ...pastRoute,
    path: '/events',
    id: 'listEvents',
    summary: 'List events, oldest first',
    query: {
      after: maybe(v.pipe(count, v.description('Events after this `seq`; default: the newest'))),
      limit: maybe(v.pipe(count, v.description(`At most ${limits.events.most}; default ${limits.events.usual}`))),
    },
    answer: { what: 'Events', schema: object({ events: listOf(event) }) },
  }),
  history: route({
    ...pastRoute,
    path: '/history',
    id: 'getHistory',
    summary: 'Get nodes, usage and jobs over time, with marks for launches and terminations',
    query: {
      since: maybe(v.pipe(count, v.description('In ms since 1970; default: an hour before `until`'))),
      until: maybe(v.pipe(count, v.description('In ms since 1970; default: now'))),
      points: maybe(v.pipe(count, v.description(`At most ${limits.points.most}; default ${limits.points.usual}`))),
    },
    answer: { what: 'Samples and marks', schema: object({ samples: listOf(sample), marks: listOf(mark) }) },
  }),
  journal: route({
    ...pastRoute,
    path: '/journal',
    id: 'readJournal',
    summary: 'Get the newest journal entries of scaling and jobs, without credentials',
    role: 'admin',
    action: 'read the journal',
    query: {
      limit: maybe(
        v.pipe(count, v.description(`Number of each; at most ${limits.facts.most}, default ${limits.facts.usual}`)),
      ),
    },
    answer: { what: 'Journal entries, oldest first', schema: journalAnswer },
  }),
  stream: route({
    ...pastRoute,
    path: '/stream',
    id: 'followCluster',
    summary:
      'Stream changes as server-sent events: event, job, nodes, cluster, sample, mark; resume with Last-Event-ID',
    query: { after: maybe(v.pipe(count, v.description('Same as Last-Event-ID'))) },
    answer: { what: 'Events', content: 'text/event-stream', events: stream },
  }),
  why: route({
    ...pastRoute,
    path: '/why/{kind}/{id}',
    id: 'explain',
    summary: 'Explain the state of a job, a node or demand; `kind` is job, node or demand',
    params: {
      kind: { schema: oneOf('job', 'node', 'demand'), what: 'What `id` refers to' },
      id: { schema: text, what: 'A job, instance or node id; anything for demand' },
    },
    answer: { what: 'The chain of causes, oldest first', schema: why },
    refusals: [404],
  }),
  openapi: route({
    ...pastRoute,
    path: '/openapi.json',
    id: 'getOpenapi',
    summary: 'Get this document',
    answer: { what: 'OpenAPI 3.1', schema: anything },
  }),
};
