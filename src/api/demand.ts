import * as v from 'valibot';
import { limits } from './limits.ts';
import { route } from './route.ts';
import {
  amount,
  amounts,
  between,
  count,
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

const market = oneOf('on-demand', 'spot', 'reserved');

/** One thing to place on one node. */
export const request = object({
  resources: amounts,
  /** Fallbacks in order of preference; in each, all rules must hold. */
  selectors: listOf(listOf(object({ label: text, operator: oneOf('in', 'not-in'), values: listOf(text) }))),
  placement: listOf(object({ kind: oneOf('together', 'apart'), label: text, value: text })),
});

export const taskDemand = object({ request, count });
const gangDemand = object({
  id: text,
  requests: listOf(request),
  details: maybe(text),
  weight: maybe(listOf(amount)),
});
const standingDemand = object({ requests: listOf(taskDemand) });

/** What asks for room, the first of each kind. */
export const demand = object({
  tasks: listOf(taskDemand),
  gangs: listOf(gangDemand),
  standing: listOf(standingDemand),
});

const refusal = object({
  type: text,
  zone: maybe(text),
  market,
  reason: oneOf('no-capacity', 'quota', 'throttled', 'denied', 'unanswered', 'launch-timeout', 'setup-failed'),
  /** Of a quota: what it closes beyond this offer. */
  closes: maybe(oneOf('zone', 'region', 'project')),
  /** The provider accepted the launch first, and ended the instance before it ran. */
  late: maybe(v.literal(true)),
  detail: maybe(text),
  times: count,
  last: instant,
  until: instant,
});

/** A node type that was looked at and not taken, and why. */
export const passed = object({
  type: text,
  zone: maybe(text),
  market: maybe(market),
  why: v.variant('kind', [
    object({ kind: v.literal('too-small'), resource: text, asked: amount, has: amount }),
    object({ kind: v.literal('labels') }),
    object({ kind: v.literal('type-limit'), max: whole, leaving: maybe(count) }),
    object({ kind: v.literal('cluster-limit'), max: whole, leaving: maybe(count) }),
    object({ kind: v.literal('upscaling-speed'), pending: count, allowed: amount }),
    object({ kind: v.literal('refused'), refusal }),
    object({ kind: v.literal('keeps-gpus') }),
    object({ kind: v.literal('worse-fit') }),
    object({ kind: v.literal('dearer'), price: amount, chosen: amount }),
    object({ kind: v.literal('narrow'), broader: text }),
    object({ kind: v.literal('lower-priority'), priority: amount, chosen: amount }),
  ]),
});

const waiting = object({
  demand: v.variant('kind', [
    object({ kind: v.literal('tasks'), request, count }),
    object({ kind: v.literal('gang'), gang: text }),
    object({ kind: v.literal('standing'), standing: standingDemand }),
    object({ kind: v.literal('min-workers'), type: text, count }),
  ]),
  /** What holds it up, per type that could hold it. */
  for: listOf(passed),
  until: maybe(instant),
  text,
});

const infeasible = v.variant('kind', [
  object({ kind: v.literal('tasks'), request, count, types: listOf(passed), text }),
  object({ kind: v.literal('gang'), gang: gangDemand, types: listOf(passed), text }),
  object({ kind: v.literal('standing'), standing: standingDemand, types: listOf(passed), text }),
]);

const demandAnswer = object({ demand, waiting: listOf(waiting), infeasible: listOf(infeasible) });
export type DemandAnswer = Wire<typeof demandAnswer>;

const bundle = given('a bundle', {
  resources: v.pipe(
    mapOf(v.pipe(amount, v.minValue(0, 'is negative; amounts must be 0 or more'))),
    v.minEntries(1, 'names nothing'),
    v.maxEntries(limits.names, `names more than ${limits.names} resources`),
  ),
  count: maybe(between(1, limits.standingBundles)),
});

export const demandRoutes = {
  get: route({
    method: 'GET',
    path: '/demand',
    id: 'getDemand',
    summary: `Get demand, what delays it, and what can never be placed; the first ${limits.demands} of each`,
    role: 'user',
    answer: { what: 'Demand', schema: demandAnswer },
  }),
  request: route({
    method: 'POST',
    path: '/request-resources',
    id: 'requestResources',
    summary: 'Reserve capacity for these bundles until the next request; an empty list withdraws it',
    role: 'admin',
    action: 'request resources',
    body: given('a request', {
      bundles: v.pipe(
        listOf(bundle),
        v.maxLength(limits.standingBundles, `has more than ${limits.standingBundles} bundles`),
      ),
    }),
    bodyLimit: limits.largeBody,
    answer: { what: 'The current request', schema: object({ requests: listOf(taskDemand) }) },
  }),
};
