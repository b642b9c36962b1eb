/** Reasons are data; here they become sentences, for `why`, the events and the page alike. */
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Resources } from '../resources.ts';
import type { LaunchRefusal } from '../view.ts';
import type { EndReason, InfeasibleDemand, LaunchReason, Passed, PassReason, Waiting } from './plan.ts';

export function durationWords(duration: Duration): string {
  const seconds = Math.max(0, Math.round(duration / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 6) / 10;
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** `2 CPU, 1 GPU, 4 GiB memory`; `nothing` when empty. */
export function resourceWords(resources: Resources): string {
  const words = Object.entries(resources)
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) =>
      name.endsWith('memory') ? `${sizeWords(amount)} ${name}` : `${amountWords(amount)} ${name}`,
    );
  return words.length === 0 ? 'nothing' : words.join(', ');
}

const amountWords = (amount: number): string => String(Math.round(amount * 10_000) / 10_000);

function sizeWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
  return `${Math.round(bytes * 10) / 10} ${units[unit]}`;
}

function servesWords({ serves }: LaunchReason): string {
  switch (serves.kind) {
    case 'min-workers':
      return `min_workers requires ${plural(serves.count, 'node')}`;
    case 'tasks':
      return `${plural(serves.count, 'task')} of ${resourceWords(serves.request.resources)}`;
    case 'gang':
      return `placement group ${serves.gang} (${plural(serves.requests, 'bundle')})`;
    case 'standing':
      return `request_resources for ${plural(serves.count, 'bundle')}`;
  }
}

export function launchWords(because: readonly LaunchReason[]): string {
  return because.length === 0 ? 'demand' : because.map(servesWords).join('; ');
}

const refusals: Readonly<Record<LaunchRefusal['reason'], string>> = {
  'no-capacity': 'the provider has no capacity',
  quota: "the account's quota is used up",
  throttled: 'the provider is throttling requests',
  denied: 'the provider denied the request',
  unanswered: 'the provider did not respond to launches',
  'launch-timeout': 'its machines did not come up in time',
  'setup-failed': 'setup of its machines failed',
};

const leavingWords = (count: number | undefined): string =>
  count === undefined ? '' : ` until ${plural(count, 'terminating node')} ${count === 1 ? 'is' : 'are'} gone`;

/** Why a node type does not serve a demand now. */
export function passReasonWords(why: PassReason, now: Instant): string {
  switch (why.kind) {
    case 'too-small':
      return `it has ${resourceWords({ [why.resource]: why.has })}, but ${resourceWords({ [why.resource]: why.asked })} is needed`;
    case 'labels':
      return 'its labels do not match';
    case 'type-limit':
      return `its max_workers of ${why.max} is reached${leavingWords(why.leaving)}`;
    case 'cluster-limit':
      return `the cluster's max_workers of ${why.max} is reached${leavingWords(why.leaving)}`;
    case 'upscaling-speed':
      return `${why.pending} are pending, and upscaling_speed allows only ${why.allowed}`;
    case 'refused': {
      const { reason, detail, times, until } = why.refusal;
      const again = until > now ? `; retrying in ${durationWords(until - now)}` : '';
      return `${refusals[reason]}${times > 1 ? `, ${times} times in a row` : ''}${again}${detail === undefined ? '' : `: ${detail}`}`;
    }
    case 'keeps-gpus':
      return 'its GPUs are reserved for work that needs them';
    case 'worse-fit':
      return 'another type fits better';
    case 'dearer':
      return `it costs ${why.price}, and the chosen one costs ${why.chosen}`;
    case 'narrow':
      return `it does not fit other work of the cluster, which ${why.broader} does for little more`;
    case 'lower-priority':
      return `its priority is ${why.priority}, and the chosen one has ${why.chosen}`;
  }
}

/** Where it was looked: the type, with zone and market when they matter. */
export function placeWords(passed: Passed): string {
  const where = [passed.zone, passed.market === 'on-demand' ? undefined : passed.market].filter(
    (part) => part !== undefined,
  );
  return where.length === 0 ? passed.type : `${passed.type} (${where.join(', ')})`;
}

export const passedWords = (passed: Passed, now: Instant): string =>
  `${placeWords(passed)}: ${passReasonWords(passed.why, now)}`;

export function endWords(because: EndReason, now: Instant): string {
  switch (because.kind) {
    case 'idle':
      return because.economic
        ? `idle for ${durationWords(because.idleFor)}, which costs more than a new node's start of ${durationWords(because.timeout)}`
        : `idle for ${durationWords(because.idleFor)}, the limit is ${durationWords(because.timeout)}`;
    case 'outdated':
      return 'its launch configuration has changed';
    case 'type-limit':
      return `more than its type's max_workers of ${because.max}`;
    case 'cluster-limit':
      return `more than the cluster's max_workers of ${because.max}`;
    case 'unneeded-pending':
      return `not yet running, and nothing has needed it for ${durationWords(now - because.since)}`;
    case 'type-removed':
      return 'its node type is no longer in the cluster file';
    case 'slice-broken':
      return `a host of its slice ${because.slice} is gone`;
    case 'not-kept':
      return 'its machine is stopped, and the cluster file does not keep it';
    case 'failed':
      return `it is ${because.status.replaceAll('-', ' ')}`;
  }
}

export function demandWords(demand: Waiting['demand'] | InfeasibleDemand): string {
  switch (demand.kind) {
    case 'tasks':
      return `${plural(demand.count, 'task')} of ${resourceWords(demand.request.resources)}`;
    case 'gang':
      return `placement group ${typeof demand.gang === 'string' ? demand.gang : demand.gang.id}`;
    case 'standing':
      return 'request_resources';
    case 'min-workers':
      return `min_workers of ${demand.type}`;
  }
}

/** A demand that is not served, and why, one sentence for each node type that was looked at. */
export interface Unserved {
  readonly demand: string;
  readonly why: readonly string[];
}

export function waitingReasons({ demand, for: passed }: Waiting, now: Instant): Unserved {
  const verb = demand.kind === 'tasks' && demand.count !== 1 ? 'wait' : 'waits';
  const why = passed.map((each) => passedWords(each, now));
  return { demand: `${demandWords(demand)} ${verb}`, why: why.length > 0 ? why : ['for nodes that are starting'] };
}

/** Nodes of a type could hold each part of it, but max_workers never allows enough of them. */
export function beyondLimits({ types }: InfeasibleDemand): boolean {
  const unfit = new Set(types.filter((each) => limitOf(each) === undefined).map(({ type }) => type));
  return types.some((each) => (limitOf(each) ?? 0) > 0 && !unfit.has(each.type));
}

const limitOf = ({ why }: Passed): number | undefined =>
  why.kind === 'type-limit' || why.kind === 'cluster-limit' ? why.max : undefined;

export function infeasibleReasons(infeasible: InfeasibleDemand, now: Instant): Unserved {
  const beyond = beyondLimits(infeasible);
  // A type of which there may be none, as is the head's, says nothing about how far the limits are from enough.
  const types = beyond ? infeasible.types.filter((each) => limitOf(each) !== 0) : infeasible.types;
  const why = types.map((each) =>
    each.why.kind === 'type-limit'
      ? `${placeWords(each)}: its max_workers is ${each.why.max}`
      : each.why.kind === 'cluster-limit'
        ? `${placeWords(each)}: the cluster's max_workers is ${each.why.max}`
        : passedWords(each, now),
  );
  return {
    demand: beyond
      ? `${demandWords(infeasible)} needs more nodes than max_workers allows`
      : `no node type can ever fit ${demandWords(infeasible)}`,
    why: why.length > 0 ? why : ['there are no node types'],
  };
}

const sentence = ({ demand, why }: Unserved): string => `${demand}: ${why.join('; ')}`;

export const waitingWords = (waiting: Waiting, now: Instant): string => sentence(waitingReasons(waiting, now));
export const infeasibleWords = (infeasible: InfeasibleDemand, now: Instant): string =>
  sentence(infeasibleReasons(infeasible, now));
