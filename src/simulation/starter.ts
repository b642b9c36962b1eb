import type { NodeStarter } from '../autoscaler/starter.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import type { SimulatedCloud } from './cloud.ts';
import type { SimulatedEngine } from './engine.ts';
import { simulationErrors } from './errors.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import { draw, type Spread } from './scenario/scenario.ts';
import type { Timer, VirtualTime } from './virtual-time.ts';

interface SetUp {
  readonly timer: Timer;
  readonly waiting: Set<{ resolve(): void; reject(error: Error): void }>;
}

/** Setups that take their time, sometimes far too much, and sometimes fail. They outlive the loop that began them. */
export class SimulatedStarter implements NodeStarter {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #cloud: SimulatedCloud;
  readonly #engine: SimulatedEngine;
  readonly #duration: Spread;
  readonly #setUps = new Map<string, SetUp>();

  constructor(
    world: { time: VirtualTime; faults: Faults; cloud: SimulatedCloud; engine: SimulatedEngine },
    random: Random,
    duration: Spread,
  ) {
    this.#time = world.time;
    this.#faults = world.faults;
    this.#cloud = world.cloud;
    this.#engine = world.engine;
    this.#random = random;
    this.#duration = duration;
  }

  bringUp(instance: ProviderInstance, signal: AbortSignal): Promise<void> {
    if (this.#engine.nodeOn(instance.id) !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const setUp = this.#setUps.get(instance.id) ?? this.#begin(instance.id);
      const waiter = { resolve, reject };
      setUp.waiting.add(waiter);
      signal.addEventListener(
        'abort',
        () => {
          if (!setUp.waiting.delete(waiter)) return;
          setUp.timer.cancel();
          this.#setUps.delete(instance.id);
          this.#time.settled();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  async halt(id: string, signal: AbortSignal): Promise<void> {
    await this.#time.sleep(this.#random.between(50, 500), signal);
    const setUp = this.#setUps.get(id);
    if (setUp === undefined) return;
    setUp.timer.cancel();
    this.#setUps.delete(id);
    this.#time.settled();
    for (const waiter of setUp.waiting) waiter.reject(simulationErrors.SetupFailed({ id }));
    setUp.waiting.clear();
  }

  #begin(id: string): SetUp {
    const fails = this.#faults.hit('setupFailure');
    const slow = this.#faults.hit('setupSlow') ? 10 : 1;
    const random = this.#random.split(id);
    const length = slow * draw(this.#duration, random) * (fails ? this.#random.next() : 1);
    const setUp: SetUp = { waiting: new Set(), timer: this.#time.after(length, () => this.#finish(id, setUp, fails)) };
    this.#setUps.set(id, setUp);
    return setUp;
  }

  #finish(id: string, setUp: SetUp, failed: boolean): void {
    this.#setUps.delete(id);
    this.#time.settled();
    const machine = this.#cloud.machine(id);
    const usable =
      !failed &&
      machine !== undefined &&
      [machine.stoppingAt, machine.goneAt, machine.offAt].every((at) => at > this.#time.now);
    if (usable) this.#engine.join(machine);
    for (const waiter of setUp.waiting) {
      if (usable) waiter.resolve();
      else waiter.reject(simulationErrors.SetupFailed({ id }));
    }
    setUp.waiting.clear();
  }
}
