import type { Duration, Instant } from '../base/time/clock.ts';
import { SimulatedCloud } from './cloud.ts';
import { SimulatedEngine } from './engine.ts';
import { type FaultRates, Faults } from './faults.ts';
import { never, type SimulatedMachine } from './machine.ts';
import { type Random, seededRandom } from './random.ts';
import { type Scenario, submissions } from './scenario/scenario.ts';
import { SimulatedStarter } from './starter.ts';
import { VirtualClock, VirtualTime } from './virtual-time.ts';
import { type Watcher, watchAll } from './watcher.ts';

/** Every run starts at this instant; any would do. */
export const worldStart: Instant = Date.UTC(2026, 0, 1);

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly rates: FaultRates;
  /** Faults fire before this time of the run. */
  readonly faultsUntil: number;
  readonly watchers: readonly Watcher[];
}

/** A cloud, an engine with work to do, and time; everything but somebody who decides. */
export class World {
  readonly time = new VirtualTime(worldStart);
  readonly clock = new VirtualClock(this.time);
  readonly random: Random;
  readonly faults: Faults;
  readonly cloud: SimulatedCloud;
  readonly engine: SimulatedEngine;
  readonly starter: SimulatedStarter;
  readonly scenario: Scenario;
  readonly head: SimulatedMachine;
  /** Called when something happens that is worth a look. */
  onChange: (what: 'demand' | 'node') => void = () => {};
  /** Called when the loop is to die where it stands. */
  onCrash: () => void = () => {};
  submitted = false;
  readonly #lastStanding: Instant;
  readonly #lastSubmission: Instant;

  constructor(options: WorldOptions) {
    const { scenario, seed } = options;
    this.scenario = scenario;
    this.random = seededRandom(seed);
    this.faults = new Faults(
      options.rates,
      this.random.split('faults'),
      () => this.time.now,
      worldStart + options.faultsUntil,
    );
    const watcher = watchAll([
      ...options.watchers,
      {
        gone: (machine) => this.engine.lose(machine.id),
        stopped: (machine) => this.engine.lose(machine.id),
      },
    ]);
    const shared = { time: this.time, spec: scenario.spec, faults: this.faults, watcher };
    const behaviour = {
      ...scenario.cloud,
      capacity: scenario.cloud.capacity.map(fromStart),
      preemption: scenario.cloud.preemption.map(fromStart),
    };
    this.cloud = new SimulatedCloud({ ...shared, random: this.random.split('cloud'), behaviour });
    this.engine = new SimulatedEngine({
      ...shared,
      random: this.random.split('engine'),
      onChange: (what) => this.onChange(what),
    });
    this.starter = new SimulatedStarter(
      { time: this.time, faults: this.faults, cloud: this.cloud, engine: this.engine },
      this.random.split('set-up'),
      scenario.cloud.setup,
    );
    this.head = this.cloud.place({ type: scenario.spec.headType, kind: 'head', token: 'head' });
    this.engine.join(this.head);
    const work = submissions(scenario.work, this.random.split('work'));
    for (const each of work) this.time.at(worldStart + each.at, () => this.engine.submit(each));
    const last = work.at(-1);
    this.#lastSubmission = worldStart + (last?.at ?? 0);
    this.submitted = last === undefined;
    if (last !== undefined) this.time.at(worldStart + last.at, () => (this.submitted = true));
    this.#lastStanding = worldStart + Math.max(0, ...work.map((each) => (each.kind === 'standing' ? each.until : 0)));
    this.#disturb();
  }

  /** Time since the start of the run. */
  get elapsed(): number {
    return this.time.now - worldStart;
  }

  /** Everything was submitted, ran, and finished, and no standing request is left. */
  get workDone(): boolean {
    return this.submitted && this.engine.unfinished === 0 && this.isStandingOver;
  }

  /** No standing request is left. */
  get isStandingOver(): boolean {
    return this.time.now >= this.#lastStanding;
  }

  /** How long ago the last work was submitted, or a standing request ended; negative before. */
  get sinceSubmissions(): Duration {
    return this.time.now - Math.max(this.#lastSubmission, this.#lastStanding);
  }

  /** Workers that nobody has told to go, or to stop. */
  *workers(): Iterable<SimulatedMachine> {
    for (const machine of this.#remaining()) if (machine.offAt === never) yield machine;
  }

  /** Workers that are switched off, and cost money all the same. */
  *stoppedWorkers(): Iterable<SimulatedMachine> {
    for (const machine of this.#remaining()) if (machine.offAt !== never) yield machine;
  }

  *#remaining(): Iterable<SimulatedMachine> {
    for (const machine of this.cloud.existing) {
      if (machine.kind === 'worker' && machine.stoppingAt === never) yield machine;
    }
  }

  /** Starts the faults that come by themselves. */
  #disturb(): void {
    const { faults, time, cloud } = this;
    const again = (name: Parameters<Faults['next']>[0], strike: () => void): void => {
      const wait = faults.next(name);
      if (wait === undefined) return;
      time.after(wait, () => {
        strike();
        again(name, strike);
      });
    };
    again('preemptionEvery', () => {
      const victims = [...this.workers()];
      const victim = victims[faults.random.below(victims.length)];
      if (victim === undefined) return;
      faults.count('preemptionEvery');
      cloud.preempt(victim, faults.share('preemptionNoticed') ? 120_000 : 0);
    });
    again('strayEvery', () => {
      const types = this.scenario.spec.nodeTypes.filter((type) => type.name !== this.scenario.spec.headType);
      const type = types[faults.random.below(types.length)];
      if (type === undefined) return;
      faults.count('strayEvery');
      cloud.place({ type: type.name, kind: 'worker', token: `stray-${Math.round(this.elapsed)}` });
    });
    again('clockJumpEvery', () => {
      faults.count('clockJumpEvery');
      this.clock.offset = Math.round(faults.random.between(-300_000, 300_000));
    });
    again('crashEvery', () => {
      faults.count('crashEvery');
      this.onCrash();
    });
  }
}

const fromStart = <T extends { readonly from: number; readonly until: number }>(rule: T): T => ({
  ...rule,
  from: worldStart + rule.from,
  until: worldStart + rule.until,
});
