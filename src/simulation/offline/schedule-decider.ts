import type { Instant } from '../../base/time/clock.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { Decider } from '../decider.ts';
import { never } from '../machine.ts';
import { type World, worldStart } from '../world.ts';
import type { PlannedMachine, Schedule } from './schedule.ts';

/** After every offer of a type was refused. */
const pause = 15_000;

/** Carries a schedule out in a simulated world, without looking at what happens there. */
export class ScheduleDecider implements Decider {
  readonly name = 'offline';
  readonly passes = 1;
  contentSince: Instant | undefined;
  readonly #world: World;
  readonly #schedule: Schedule;
  readonly #controller = new AbortController();
  /** By machine id; those that are there, or on their way. */
  readonly #planned = new Map<string, PlannedMachine>();
  #open: number;

  constructor(world: World, schedule: Schedule) {
    this.#world = world;
    this.#schedule = schedule;
    this.#open = schedule.filter(({ endAt }) => endAt !== never).length;
  }

  start(): void {
    const { time } = this.#world;
    if (this.#open === 0) this.contentSince = time.now;
    this.#schedule.forEach((planned, index) =>
      time.at(worldStart + planned.launchAt, () => void this.#launch(planned, `offline-${index}`)),
    );
  }

  wake(): void {
    for (const [id, planned] of this.#planned) {
      const machine = this.#world.cloud.machine(id);
      if (machine === undefined || machine.goneAt !== never) this.#close(id, planned);
    }
  }

  crash(): void {}

  stop(): Promise<void> {
    this.#controller.abort();
    return Promise.resolve();
  }

  async #launch(planned: PlannedMachine, token: string): Promise<void> {
    const { cloud, scenario, time, starter } = this.#world;
    const { signal } = this.#controller;
    const offers = scenario.spec.nodeTypes.find(({ name }) => name === planned.type)?.offers ?? [];
    for (let tried = 0; ; tried++) {
      if (time.now - worldStart >= planned.endAt) return this.#done();
      const offer = offers[(planned.offer + tried) % offers.length];
      if (offer === undefined) return this.#done();
      try {
        const [made] = await cloud.launch(
          {
            token: `${token}-${tried}`,
            type: planned.type,
            count: 1,
            market: offer.market,
            ...(offer.zone !== undefined && { zone: offer.zone }),
            tags: {},
          },
          signal,
        );
        if (made === undefined) return this.#done();
        this.#planned.set(made.id, planned);
        const booted = cloud.machine(made.id)?.bootedAt ?? never;
        if (booted !== never) time.at(booted, () => void starter.bringUp(made, signal).catch(() => {}));
        if (planned.endAt !== never) time.at(worldStart + planned.endAt, () => void this.#end(made.id));
        return;
      } catch (error) {
        if (!providerErrors.NoCapacity.is(error)) return this.#done();
        if ((tried + 1) % offers.length === 0) await time.sleep(pause, signal).catch(() => {});
      }
    }
  }

  async #end(id: string): Promise<void> {
    const { engine, time } = this.#world;
    const { signal } = this.#controller;
    const node = engine.nodeOn(id);
    if (node === undefined) return this.#terminate(id);
    await engine.drain(node.id, { kind: 'preemption', deadline: time.now + 86_400_000 }, signal).catch(() => {});
    while (!signal.aborted && engine.nodeOn(id) !== undefined) await time.sleep(1_000, signal).catch(() => {});
    await this.#terminate(id);
  }

  async #terminate(id: string): Promise<void> {
    await this.#world.cloud.terminate([id], this.#controller.signal).catch(() => {});
    const planned = this.#planned.get(id);
    if (planned !== undefined) this.#close(id, planned);
  }

  #close(id: string, planned: PlannedMachine): void {
    if (!this.#planned.delete(id) || planned.endAt === never) return;
    this.#done();
  }

  #done(): void {
    if (--this.#open <= 0) this.contentSince ??= this.#world.time.now;
  }
}
