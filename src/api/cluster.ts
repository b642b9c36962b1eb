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
  nodes: object({
    running: count,
    pending: count,
    draining: count,
    failed: count,
    /** Machines that are switched off, and kept for the next launch. */
    stopped: maybe(count),
  }),
  usage,
  jobs: jobCounts,
  /** Current price per hour, and spent since `startedAt`; absent when no price is known. `currency` is ISO 4217, USD without it. */
  cost: maybe(
    object({
      perHour: amount,
      spent: amount,
      currency: maybe(text),
      /** Instances whose price is not known: neither amount has them in it. */
      unknown: maybe(count),
    }),
  ),
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
    'machine-stopped',
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
export type WireInstanceStatus = NodeAnswer['status'];

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
    /** Machines that are switched off and kept, by type; without a price where what they cost is not known. */
    stopped: maybe(listOf(object({ type: text, count, pricePerHour: maybe(amount) }))),
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
  reason: maybe(v.pipe(oneOf('idle', 'preemption'), v.description('Default: idle'))),
  within: maybe(
    v.pipe(
      amount,
      v.minValue(0, 'is less than 0'),
      v.maxValue(365 * 86_400_000, 'is longer than a year'),
      v.description('For a preemption: milliseconds until the machine is gone, if known'),
    ),
  ),
});
export type DrainBody = Wire<typeof drainBody>;

const extendBody = given('an extension', {
  by: maybe(v.pipe(amount, v.description('How many milliseconds longer'))),
  until: maybe(instant),
});
export type ExtendBody = Wire<typeof extendBody>;

const id = { id: { schema: text, what: 'An instance id, or a node id (at least its first six characters)' } };

export const clusterRoutes = {
  get: route({
    method: 'GET',
    path: '/cluster',
    id: 'getCluster',
    summary: 'Get an overview of the cluster',
    role: 'user',
    answer: { what: 'The cluster', schema: cluster },
  }),
  nodes: route({
    method: 'GET',
    path: '/nodes',
    id: 'listNodes',
    summary: 'List instances and their nodes, with the reason for each',
    role: 'user',
    query: {
      limit: maybe(v.pipe(count, v.description(`Maximum and default: ${limits.nodes.most}`))),
      after: maybe(v.pipe(text, v.description('`next` of the previous page'))),
    },
    answer: { what: 'A page', schema: nodesAnswer },
  }),
  drain: route({
    method: 'POST',
    path: '/nodes/{id}/drain',
    id: 'drainNode',
    summary:
      'Drain a node and terminate its instance. With the reason idle, a node that has work refuses; a preemption is never refused, and its work has `within` milliseconds left',
    role: 'admin',
    action: 'drain a node',
    params: id,
    body: drainBody,
    bodyLimit: limits.smallBody,
    answer: {
      what: 'Whether the request was accepted',
      schema: object({ instance: text, accepted: flag, reason: maybe(text) }),
    },
    refusals: [404],
  }),
  end: route({
    method: 'POST',
    path: '/nodes/{id}/end',
    id: 'endNode',
    summary: 'Terminate the instance of a worker at once, with everything running on it',
    role: 'admin',
    action: 'terminate a node',
    params: id,
    answer: { what: 'Whether the request was accepted', schema: object({ instance: text, accepted: flag }) },
    refusals: [404],
  }),
  status: route({
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    summary: "Get the status: Ray's text, short and long, and the data behind it",
    role: 'user',
    answer: { what: 'The status', schema: statusAnswer },
  }),
  extend: route({
    method: 'POST',
    path: '/extend',
    id: 'extendCluster',
    summary: 'Postpone the automatic shutdown of the cluster, by a duration or until a time',
    role: 'admin',
    action: 'extend the cluster',
    body: extendBody,
    bodyLimit: limits.smallBody,
    answer: { what: 'The new shutdown time', schema: object({ turnOff: maybe(turnOff) }) },
  }),
  reload: route({
    method: 'POST',
    path: '/reload',
    id: 'reloadCluster',
    summary: "Apply the cluster's file again; jobs are not affected",
    role: 'admin',
    action: 'change the cluster',
    answer: { what: 'The cluster', schema: object({ name: text }) },
  }),
};
