import * as v from 'valibot';
import { demand } from './demand.ts';
import { jobCounts } from './jobs.ts';
import { limits } from './limits.ts';
import { route } from './route.ts';
import {
  amount,
  amounts,
  count,
  flag,
  given,
  instant,
  listOf,
  mapOf,
  maybe,
  object,
  oneOf,
  text,
  type Wire,
  whole,
} from './schema.ts';

/** How much of each resource is used. */
export const usage = mapOf(object({ used: amount, total: amount }));

/** When the cluster ends by itself. */
export const turnOff = object({
  /** `provider.manta.idle_shutdown` and `max_lifetime`, in milliseconds. */
  idleShutdown: maybe(amount),
  maxLifetime: maybe(amount),
  /** Given with `up --until` or `--for`. */
  until: maybe(instant),
  /** By `manta extend`: not before. */
  keepUntil: maybe(instant),
  idleSince: maybe(instant),
  /** What keeps it from being idle, in words. */
  busyWith: maybe(text),
  /** When it ends as things stand, and by which term; absent while something runs and nothing else ends it. */
  at: maybe(instant),
  because: maybe(oneOf('idle', 'lifetime', 'until', 'asked')),
  /** It was warned of. */
  soon: flag,
  /** What becomes of the cluster, to be read behind its name. */
  text,
});
export type TurnOffAnswer = Wire<typeof turnOff>;

export const cluster = object({
  name: text,
  engine: oneOf('embedded', 'ray'),
  mantaVersion: text,
  startedAt: instant,
  now: instant,
  user: text,
  nodeTypes: listOf(
    object({
      name: text,
      head: flag,
      resources: amounts,
      minWorkers: whole,
      maxWorkers: whole,
      pricePerHour: maybe(amount),
    }),
  ),
  maxWorkers: maybe(whole),
  nodes: object({ running: count, pending: count, draining: count, failed: count }),
  usage,
  jobs: jobCounts,
  /** Per hour as of now, and spent since `startedAt`; absent when no price is known. `currency` is ISO 4217, USD without it. */
  cost: maybe(object({ perHour: amount, spent: amount, currency: maybe(text) })),
  /** False while mantad catches up after a start: nothing is ended meanwhile. */
  synced: flag,
  /** Who does not answer, since when and why, and what is not known therefore, a line each; absent while all is known. */
  unknown: maybe(listOf(text)),
  /** Absent for a cluster that never ends by itself. */
  turnOff: maybe(turnOff),
});
export type ClusterAnswer = Wire<typeof cluster>;

export const node = object({
  instance: text,
  node: maybe(text),
  /** The machine as its provider names it, and where it is reached. */
  machine: maybe(text),
  address: maybe(text),
  type: text,
  kind: oneOf('head', 'worker'),
  status: oneOf(
    'queued',
    'requested',
    'allocated',
    'setting-up',
    'running',
    'drain-requested',
    'draining',
    'stopped',
    'terminating',
    'terminated',
    'launch-failed',
    'launch-timeout',
    'setup-failed',
    'terminate-failed',
  ),
  since: instant,
  requestedAt: instant,
  idleFor: maybe(amount),
  total: amounts,
  available: amounts,
  /** The first of those that run on it. */
  jobs: listOf(text),
  zone: maybe(text),
  market: maybe(text),
  pricePerHour: maybe(amount),
  /** Why it was launched, and why it ended or is ending, in words. */
  launchedBecause: maybe(text),
  endsBecause: maybe(text),
  /** Nobody asked a provider for it, so `since` and `requestedAt` say nothing. It is never ended. */
  byHand: maybe(flag),
});
export type NodeAnswer = Wire<typeof node>;
export type InstanceStatus = NodeAnswer['status'];

const nodesAnswer = object({
  nodes: listOf(node),
  /** Give as `after` for the next page. */
  next: maybe(text),
});
export type NodesAnswer = Wire<typeof nodesAnswer>;

const statusNode = object({
  id: text,
  instance: text,
  type: text,
  total: amounts,
  available: amounts,
  idleFor: amount,
  /** What keeps it busy, in the engine's words. */
  activity: listOf(text),
});
const silence = object({ since: instant, reason: text });

const statusAnswer = object({
  /** Ray's text, short and long. */
  text,
  verboseText: text,
  /** The facts behind it. */
  status: object({
    at: instant,
    active: listOf(statusNode),
    idle: listOf(statusNode),
    launching: listOf(object({ type: text, count })),
    pending: listOf(object({ instance: text, type: text, details: text })),
    failedLaunches: listOf(object({ type: text, at: instant, reason: text })),
    failedNodes: listOf(object({ type: text, instance: text })),
    demand,
    /** Sides that do not answer: what they would tell is missing here. */
    silent: maybe(object({ engine: maybe(silence), provider: maybe(silence) })),
    /** Machines that run, and of which nobody tells what is on them. */
    unknown: maybe(count),
    timings: maybe(object({ engineMs: maybe(amount), providerMs: maybe(amount), passMs: maybe(amount) })),
  }),
  synced: flag,
  unknown: listOf(text),
  turnOff: maybe(turnOff),
});
export type StatusAnswer = Wire<typeof statusAnswer>;

const drainBody = given('a drain', {
  reason: maybe(v.pipe(oneOf('idle', 'preemption'), v.description('idle when not given'))),
  within: maybe(
    v.pipe(
      amount,
      v.minValue(0, 'is less than 0'),
      v.maxValue(365 * 86_400_000, 'is longer than a year'),
      v.description('Of a preemption: so many milliseconds from now the machine is gone. Without it nobody says when'),
    ),
  ),
});
export type DrainBody = Wire<typeof drainBody>;

const extendBody = given('an extension', {
  by: maybe(v.pipe(amount, v.description('So many milliseconds longer'))),
  until: maybe(instant),
});
export type ExtendBody = Wire<typeof extendBody>;

const id = { id: { schema: text, what: 'The id of an instance, or of a node or its first six characters or more' } };

export const clusterRoutes = {
  get: route({
    method: 'GET',
    path: '/cluster',
    id: 'getCluster',
    summary: 'The cluster at a glance',
    role: 'user',
    answer: { what: 'The cluster', schema: cluster },
  }),
  nodes: route({
    method: 'GET',
    path: '/nodes',
    id: 'listNodes',
    summary: 'Instances and the nodes on them, with why each is there',
    role: 'user',
    query: {
      limit: maybe(v.pipe(count, v.description(`At most ${limits.nodes.most}, which is also the default`))),
      after: maybe(v.pipe(text, v.description('`next` of the page before'))),
    },
    answer: { what: 'A page', schema: nodesAnswer },
  }),
  drain: route({
    method: 'POST',
    path: '/nodes/{id}/drain',
    id: 'drainNode',
    summary:
      'Empty a node and end its instance. Where the reason is that it is idle, a node with work on it refuses; a preemption is not refused, and its work has `within` milliseconds left',
    role: 'admin',
    action: 'drain a node',
    params: id,
    body: drainBody,
    bodyLimit: limits.smallBody,
    answer: { what: 'Whether it will', schema: object({ instance: text, accepted: flag, reason: maybe(text) }) },
    refusals: [404],
  }),
  end: route({
    method: 'POST',
    path: '/nodes/{id}/end',
    id: 'endNode',
    summary: 'End the instance of a worker at once, with what runs on it',
    role: 'admin',
    action: 'end a node',
    params: id,
    answer: { what: 'Whether it will', schema: object({ instance: text, accepted: flag }) },
    refusals: [404],
  }),
  status: route({
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    summary: "The status: Ray's text, short and long, and the facts behind it",
    role: 'user',
    answer: { what: 'The status', schema: statusAnswer },
  }),
  extend: route({
    method: 'POST',
    path: '/extend',
    id: 'extendCluster',
    summary: 'Keep a cluster that ends by itself for longer, by a length of time or until an instant',
    role: 'admin',
    action: 'keep the cluster for longer',
    body: extendBody,
    bodyLimit: limits.smallBody,
    answer: { what: 'When it ends now', schema: object({ turnOff: maybe(turnOff) }) },
  }),
  reload: route({
    method: 'POST',
    path: '/reload',
    id: 'reloadCluster',
    summary: "Apply the cluster's file again, without touching jobs",
    role: 'admin',
    action: 'change the cluster',
    answer: { what: 'The cluster', schema: object({ name: text }) },
  }),
};
