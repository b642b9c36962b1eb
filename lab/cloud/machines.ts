import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { CloudInstance } from './instance.ts';
import { instant } from './instant.ts';
import type { Random } from './random.ts';
import type { Settings } from './settings.ts';

/** What goes wrong with one boot. */
interface BootFate {
  /** Milliseconds more until it is switched on. */
  readonly slow: number;
  /** Pending for ever. */
  readonly hangs: boolean;
  /** Said to run, and never answers. */
  readonly dead: boolean;
  readonly sshd: boolean;
}

/** Does to machines what becomes of their instances. */
export class Machines {
  readonly #ground: Ground;
  readonly #random: Random;
  readonly #settings: () => Settings;
  readonly #timers = new Set<NodeJS.Timeout>();
  #turns: Promise<void> = Promise.resolve();

  constructor(ground: Ground, random: Random, settings: () => Settings) {
    this.#ground = ground;
    this.#random = random;
    this.#settings = settings;
  }

  begin(instance: CloudInstance, fate: BootFate): void {
    const wait = 1000 * this.#random.between(this.#settings().boot_s) + fate.slow;
    void instance.inTurn(async () => {
      try {
        await this.#boot(instance, fate, wait);
      } catch (error) {
        if (instance.exists) this.end(instance, `it did not boot: ${(error as Error).message}`);
      }
    });
  }

  end(instance: CloudInstance, reason: string): void {
    if (!instance.exists || instance.now.state === 'terminating') return;
    instance.change({ state: 'terminating', reason }, instant());
    instance.ending.abort();
    const wait = 1000 * this.#random.between(this.#settings().terminate_s);
    void instance.inTurn(async () => {
      await instance.machine?.kill();
      await sleep(wait);
      await this.#discard(instance);
      if (instance.exists) instance.change({ state: 'terminated' }, instant());
    });
  }

  stop(instance: CloudInstance): void {
    instance.change({ state: 'stopping', reason: 'it was stopped' }, instant());
    void instance.inTurn(async () => {
      if (instance.now.state !== 'stopping') return;
      await instance.machine?.kill();
      if (instance.now.state === 'stopping') instance.change({ state: 'stopped' }, instant());
    });
  }

  start(instance: CloudInstance): void {
    instance.change({ state: 'pending', reason: undefined }, instant());
    const wait = 1000 * this.#random.between(this.#settings().boot_s);
    void instance.inTurn(async () => {
      await this.#wait(wait, instance);
      if (instance.now.state !== 'pending') return;
      await instance.machine?.boot();
      if (instance.now.state === 'pending') instance.change({ state: 'running' }, instant());
    });
  }

  preempt(instance: CloudInstance, notice: number): void {
    if (!instance.exists || instance.now.preemptionAt !== undefined) return;
    if (notice > 0) instance.change({ preemptionAt: instant() + notice }, instant());
    this.after(notice, () => this.end(instance, 'it was preempted'));
  }

  vanish(instance: CloudInstance): void {
    if (!instance.exists) return;
    instance.change({ state: 'gone', reason: 'it vanished' }, instant());
    instance.ending.abort();
    void instance.inTurn(() => this.#discard(instance));
  }

  /** Does something later, unless the cloud is closed by then. */
  after(wait: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, wait).unref();
    this.#timers.add(timer);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** To make a machine takes this process a while: calls are answered before each. */
  #turn(): Promise<void> {
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turns;
  }

  async #boot(instance: CloudInstance, fate: BootFate, wait: number): Promise<void> {
    const { id, order, ending } = instance;
    await this.#turn();
    if (ending.signal.aborted) return;
    // The address is given out at once, as clouds do.
    const machine = await this.#ground.make({
      instance: id,
      machineType: order.machine_type,
      login: order.login,
      userData: order.user_data,
      sshd: fate.sshd,
      poweredOff: () => this.#poweredOff(instance),
    });
    instance.machine = machine;
    if (ending.signal.aborted) return;
    instance.change({ address: machine.address }, instant());
    await this.#wait(wait, instance);
    if (fate.hangs || instance.now.state !== 'pending') return;
    if (!fate.dead) await machine.boot();
    if (instance.now.state === 'pending') instance.change({ state: 'running' }, instant());
  }

  #poweredOff(instance: CloudInstance): void {
    if (instance.now.state !== 'running' && instance.now.state !== 'pending') return;
    const reason = 'it switched itself off';
    if (instance.order.on_shutdown === 'stop') instance.change({ state: 'stopped', reason }, instant());
    else this.end(instance, reason);
  }

  async #discard(instance: CloudInstance): Promise<void> {
    await instance.machine?.discard();
    instance.machine = undefined;
  }

  async #wait(wait: number, { ending }: CloudInstance): Promise<void> {
    if (wait > 0) await sleep(wait, undefined, { signal: ending.signal, ref: false }).catch(() => {});
  }
}
