import type { Duration } from '../../base/time/clock.ts';
import type { Market, NodeTypeName } from '../../core/instance.ts';
import type { LabelSelector, Resources } from '../../core/resources.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import type { Random } from '../random.ts';

/** What to simulate, checked and in numbers. Times count from the start of the run, in milliseconds. */
export interface Scenario {
  readonly name: string;
  readonly summary: string;
  readonly spec: ScalingSpec;
  readonly cloud: CloudBehaviour;
  readonly work: readonly WorkItem[];
}

export type Spread =
  | { readonly kind: 'fixed'; readonly value: Duration }
  | { readonly kind: 'uniform'; readonly min: Duration; readonly max: Duration }
  | { readonly kind: 'log-normal'; readonly median: Duration; readonly p95: Duration };

export interface CloudBehaviour {
  readonly boot: Spread;
  readonly setup: Spread;
  readonly latency: Spread;
  readonly capacity: readonly CapacityRule[];
  readonly preemption: readonly PreemptionRule[];
}

export interface CapacityRule {
  readonly type?: NodeTypeName;
  readonly zone?: string;
  readonly market?: Market;
  readonly limit: number;
  readonly from: Duration;
  readonly until: Duration;
}

export interface PreemptionRule {
  readonly market?: Market;
  readonly zone?: string;
  readonly every: Duration;
  readonly from: Duration;
  readonly until: Duration;
  readonly notice?: Duration;
}

export type Strategy = 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';

export type WorkItem =
  | {
      readonly kind: 'tasks' | 'actors';
      readonly count: number;
      readonly resources: Resources;
      readonly selectors: readonly LabelSelector[];
      readonly duration: Spread;
      readonly arrival: Arrival;
    }
  | {
      readonly kind: 'gangs';
      readonly count: number;
      readonly bundles: readonly Resources[];
      readonly strategy: Strategy;
      readonly duration: Spread;
      readonly arrival: Arrival;
    }
  | {
      readonly kind: 'standing';
      readonly requests: readonly { readonly resources: Resources; readonly count: number }[];
      readonly at: Duration;
      readonly until: Duration;
    };

export interface Arrival {
  readonly at: Duration;
  readonly over: Duration;
  readonly shape: 'even' | 'ramp' | 'wave';
  readonly repeatEvery: Duration;
  readonly times: number;
}

export function draw(spread: Spread, random: Random): Duration {
  switch (spread.kind) {
    case 'fixed':
      return spread.value;
    case 'uniform':
      return random.between(spread.min, spread.max);
    case 'log-normal':
      return random.logNormal(spread.median, spread.p95);
  }
}

/** When each of `count` submissions of an item happens, ascending. */
export function arrivals(arrival: Arrival, count: number, random: Random): Duration[] {
  const times: Duration[] = [];
  for (let round = 0; round < arrival.times; round++) {
    const start = arrival.at + round * arrival.repeatEvery;
    for (let index = 0; index < count; index++) {
      times.push(start + (arrival.over === 0 ? 0 : arrival.over * quantile(arrival.shape, random.next())));
    }
  }
  return times.sort((a, b) => a - b);
}

/** Inverse of the distribution of arrivals over a span of one. */
function quantile(shape: Arrival['shape'], share: number): number {
  switch (shape) {
    case 'even':
      return share;
    case 'ramp':
      return Math.sqrt(share);
    case 'wave':
      return Math.acos(1 - 2 * share) / Math.PI;
  }
}

/** What drivers submit and when: the same for every planner that is tried on it. */
export type ScenarioSubmission =
  | {
      readonly kind: 'task' | 'actor';
      readonly at: Duration;
      readonly resources: Resources;
      readonly selectors: readonly LabelSelector[];
      readonly duration: Duration;
    }
  | {
      readonly kind: 'gang';
      readonly at: Duration;
      readonly bundles: readonly Resources[];
      readonly strategy: Strategy;
      readonly duration: Duration;
    }
  | {
      readonly kind: 'standing';
      readonly at: Duration;
      readonly until: Duration;
      readonly requests: readonly { readonly resources: Resources; readonly count: number }[];
    };

export function submissions(work: readonly WorkItem[], random: Random): ScenarioSubmission[] {
  const all = work.flatMap((item): ScenarioSubmission[] => {
    switch (item.kind) {
      case 'standing':
        return [{ kind: 'standing', at: item.at, until: item.until, requests: item.requests }];
      case 'gangs':
        return arrivals(item.arrival, item.count, random).map((at) => ({
          kind: 'gang',
          at,
          bundles: item.bundles,
          strategy: item.strategy,
          duration: draw(item.duration, random),
        }));
      default:
        return arrivals(item.arrival, item.count, random).map((at) => ({
          kind: item.kind === 'tasks' ? 'task' : 'actor',
          at,
          resources: item.resources,
          selectors: item.selectors,
          duration: draw(item.duration, random),
        }));
    }
  });
  return all.sort((a, b) => a.at - b.at);
}
