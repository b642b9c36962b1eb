import type { Duration, Instant } from '../base/time/clock.ts';
import type { Random } from './random.ts';

/** How often things go wrong. Rates are per call or per instance; `…Every` is the mean time between two. 0 is never. */
export interface FaultRates {
  /** A call is refused because there were too many. */
  readonly throttle: number;
  /** A call never arrives. */
  readonly lostRequest: number;
  /** A call takes effect and its answer never arrives. */
  readonly lostAnswer: number;
  /** A call is delivered twice. */
  readonly duplicateCall: number;
  /** A list tells what was true some seconds ago. */
  readonly staleList: number;
  /** A list names an instance twice. */
  readonly duplicateEntry: number;
  /** A launch gives fewer than asked. */
  readonly partialFill: number;
  readonly noCapacity: number;
  readonly quota: number;
  readonly denied: number;
  /** A machine is given, and ended before it boots: there was none after all. */
  readonly lateRefusal: number;
  /** A machine is given and never answers. */
  readonly deadBoot: number;
  readonly setupFailure: number;
  readonly setupSlow: number;
  /** The engine does not tell its state. */
  readonly engineSilent: number;
  /** The engine declines to drain a node although it is idle. */
  readonly drainRefused: number;
  readonly drainAnswerLost: number;
  /** A call takes many times longer. */
  readonly slowCall: number;
  /** A machine is taken back. */
  readonly preemptionEvery: Duration;
  /** Share of preemptions that are announced two minutes before. */
  readonly preemptionNoticed: number;
  /** A machine with the cluster's tag appears that nobody in the journal asked for. */
  readonly strayEvery: Duration;
  readonly clockJumpEvery: Duration;
  /** The loop dies at whatever it is doing and starts again from its journal. */
  readonly crashEvery: Duration;
}

export type FaultName = keyof FaultRates;

const none: FaultRates = {
  throttle: 0,
  lostRequest: 0,
  lostAnswer: 0,
  duplicateCall: 0,
  staleList: 0,
  duplicateEntry: 0,
  partialFill: 0,
  noCapacity: 0,
  quota: 0,
  denied: 0,
  lateRefusal: 0,
  deadBoot: 0,
  setupFailure: 0,
  setupSlow: 0,
  engineSilent: 0,
  drainRefused: 0,
  drainAnswerLost: 0,
  slowCall: 0,
  preemptionEvery: 0,
  preemptionNoticed: 0,
  strayEvery: 0,
  clockJumpEvery: 0,
  crashEvery: 0,
};

const minute = 60_000;

/** Named sets of faults, for `--faults` and for the soak. */
export const faultProfiles = {
  none,
  mild: { ...none, throttle: 0.02, staleList: 0.05, setupFailure: 0.03, slowCall: 0.02, duplicateEntry: 0.02 },
  capacity: {
    ...none,
    noCapacity: 0.3,
    partialFill: 0.3,
    lateRefusal: 0.1,
    quota: 0.05,
    throttle: 0.03,
    staleList: 0.05,
  },
  'spot-storm': { ...none, preemptionEvery: 4 * minute, preemptionNoticed: 0.5, noCapacity: 0.1, staleList: 0.05 },
  'flaky-api': {
    ...none,
    throttle: 0.1,
    lostRequest: 0.05,
    lostAnswer: 0.08,
    duplicateCall: 0.05,
    staleList: 0.15,
    duplicateEntry: 0.05,
    slowCall: 0.1,
    engineSilent: 0.05,
    drainAnswerLost: 0.1,
  },
  'bad-machines': { ...none, deadBoot: 0.12, setupFailure: 0.2, setupSlow: 0.2, drainRefused: 0.1, staleList: 0.02 },
  'bad-engine': { ...none, engineSilent: 0.2, drainRefused: 0.3, drainAnswerLost: 0.2, setupSlow: 0.1 },
  'crash-loop': {
    ...none,
    crashEvery: 1.5 * minute,
    lostAnswer: 0.05,
    staleList: 0.1,
    noCapacity: 0.05,
    lateRefusal: 0.05,
  },
  'bad-clock': { ...none, clockJumpEvery: 3 * minute, noCapacity: 0.1, setupFailure: 0.05, throttle: 0.02 },
  chaos: {
    throttle: 0.05,
    lostRequest: 0.03,
    lostAnswer: 0.05,
    duplicateCall: 0.03,
    staleList: 0.1,
    duplicateEntry: 0.03,
    partialFill: 0.1,
    noCapacity: 0.1,
    quota: 0.02,
    denied: 0.01,
    lateRefusal: 0.03,
    deadBoot: 0.05,
    setupFailure: 0.08,
    setupSlow: 0.05,
    engineSilent: 0.05,
    drainRefused: 0.1,
    drainAnswerLost: 0.05,
    slowCall: 0.05,
    preemptionEvery: 10 * minute,
    preemptionNoticed: 0.5,
    strayEvery: 20 * minute,
    clockJumpEvery: 15 * minute,
    crashEvery: 5 * minute,
  },
} satisfies Record<string, FaultRates>;

/** Decides whether a fault fires, and counts those that did. */
export class Faults {
  readonly #random: Random;
  readonly #rates: FaultRates;
  readonly #until: Instant;
  readonly #now: () => Instant;
  readonly fired = new Map<FaultName, number>();

  constructor(rates: FaultRates, random: Random, now: () => Instant, until: Instant) {
    this.#rates = rates;
    this.#random = random;
    this.#now = now;
    this.#until = until;
  }

  get random(): Random {
    return this.#random;
  }

  /** True when the fault fires here and now. */
  hit(name: FaultName): boolean {
    if (this.#rates[name] === 0 || this.#now() >= this.#until || !this.#random.chance(this.#rates[name])) return false;
    this.count(name);
    return true;
  }

  /** Time until the next fault of a kind that comes by itself; undefined when there is none. */
  next(name: 'preemptionEvery' | 'strayEvery' | 'clockJumpEvery' | 'crashEvery'): Duration | undefined {
    if (this.#rates[name] === 0 || this.#now() >= this.#until) return undefined;
    const wait = this.#random.exponential(this.#rates[name]);
    return this.#now() + wait < this.#until ? wait : undefined;
  }

  share(name: 'preemptionNoticed'): boolean {
    return this.#random.chance(this.#rates[name]);
  }

  count(name: FaultName): void {
    this.fired.set(name, (this.fired.get(name) ?? 0) + 1);
  }
}
