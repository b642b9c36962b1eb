import type { Clock } from '../../src/base/time/clock.ts';
import type { Hypervisor } from './hypervisor.ts';
import type { CloudInstance, EndCause } from './instance.ts';
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
  readonly #hypervisor: Hypervisor;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #settings: () => Settings;
  readonly #closed = new AbortController();
  #turns: Promise<void> = Promise.resolve();

  /** Told when an instance has come to its end. */
  readonly #ended: (instance: CloudInstance) => void;

  constructor(
    hypervisor: Hypervisor,
    clock: Clock,
    random: Random,
    settings: () => Settings,
    ended: (instance: CloudInstance) => void = () => {},
  ) {
    this.#ended = ended;
    this.#hypervisor = hypervisor;
    this.#clock = clock;
    this.#random = random;
    this.#settings = settings;
  }

  begin(instance: CloudInstance, fate: BootFate): void {
    const wait = 1000 * this.#random.between(this.#settings().boot_s) + fate.slow;
    void instance.inTurn(async () => {
      try {
        await this.#boot(instance, fate, wait);
      } catch (error) {
        if (instance.exists) this.end(instance, `it did not boot: ${(error as Error).message}`, 'fault');
      }
    });
  }

  end(instance: CloudInstance, reason: string, cause: EndCause): void {
    if (!instance.exists || instance.now.state === 'terminating') return;
    instance.change({ state: 'terminating', reason, cause }, this.#clock.now());
    instance.ending.abort();
    const wait = 1000 * this.#random.between(this.#settings().terminate_s);
    void instance.inTurn(async () => {
      await instance.machine?.kill();
      await this.#pause(wait);
      await this.#discard(instance);
      if (!instance.exists) return;
      instance.change({ state: 'terminated', outside: undefined }, this.#clock.now());
      this.#ended(instance);
    });
  }

  /** Ends an instance that never ran, for want of something. */
  refuse(instance: CloudInstance, code: string, message: string): void {
    if (instance.now.state !== 'pending') return;
    instance.change({ refused: { code, message } }, this.#clock.now());
    this.end(instance, message, 'refusal');
  }

  rebalance(instance: CloudInstance): void {
    if (instance.exists && instance.now.rebalanceAt === undefined)
      instance.change({ rebalanceAt: this.#clock.now() }, this.#clock.now());
  }

  stop(instance: CloudInstance, reason = 'it was stopped', cause: EndCause = 'order'): void {
    instance.change({ state: 'stopping', reason, cause }, this.#clock.now());
    void instance.inTurn(async () => {
      if (instance.now.state !== 'stopping') return;
      await instance.machine?.kill();
      if (instance.now.state === 'stopping')
        instance.change({ state: 'stopped', outside: undefined }, this.#clock.now());
    });
  }

  start(instance: CloudInstance): void {
    instance.startedAt = this.#clock.now();
    const anew = { reason: undefined, cause: undefined, preemptionAt: undefined };
    instance.change({ state: 'pending', ...anew }, this.#clock.now());
    const wait = 1000 * this.#random.between(this.#settings().boot_s);
    void instance.inTurn(async () => {
      await this.#wait(wait, instance);
      if (instance.now.state !== 'pending') return;
      await instance.machine?.boot();
      if (instance.now.state === 'pending')
        instance.change({ state: 'running', outside: instance.machine?.outside }, this.#clock.now());
    });
  }

  preempt(instance: CloudInstance, notice: number): void {
    if (!instance.exists || instance.now.preemptionAt !== undefined) return;
    if (notice > 0) instance.change({ preemptionAt: this.#clock.now() + notice }, this.#clock.now());
    const reason = 'it was preempted';
    this.after(notice, () => {
      if (instance.order.on_preemption !== 'stop') this.end(instance, reason, 'preemption');
      else if (/^(?:pending|running)$/.test(instance.now.state)) this.stop(instance, reason, 'preemption');
    });
  }

  vanish(instance: CloudInstance): void {
    if (!instance.exists) return;
    instance.change({ state: 'gone', reason: 'it vanished' }, this.#clock.now());
    instance.ending.abort();
    this.#ended(instance);
    void instance.inTurn(() => this.#discard(instance));
  }

  /** Does something later, unless the cloud is closed by then. */
  after(wait: number, act: () => void): void {
    this.#clock.sleep(wait, this.#closed.signal).then(act, () => {});
  }

  close(): void {
    this.#closed.abort();
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
    const machine = await this.#hypervisor.make({
      instance: id,
      machineType: order.machine_type,
      login: order.login,
      userData: order.user_data,
      sshd: fate.sshd,
      tags: instance.now.tags,
      outside: order.outside ?? false,
      poweredOff: () => this.#poweredOff(instance),
    });
    instance.machine = machine;
    if (ending.signal.aborted) return;
    instance.change({ address: machine.address, outside: machine.outside }, this.#clock.now());
    await this.#wait(wait, instance);
    if (fate.hangs || instance.now.state !== 'pending') return;
    if (!fate.dead) await machine.boot();
    if (instance.now.state === 'pending') instance.change({ state: 'running' }, this.#clock.now());
  }

  #poweredOff(instance: CloudInstance): void {
    if (instance.now.state !== 'running' && instance.now.state !== 'pending') return;
    const reason = 'it switched itself off';
    if (instance.order.on_shutdown === 'stay') return;
    if (instance.order.on_shutdown === 'stop')
      instance.change({ state: 'stopped', outside: undefined, reason, cause: 'itself' }, this.#clock.now());
    else this.end(instance, reason, 'itself');
  }

  async #discard(instance: CloudInstance): Promise<void> {
    await instance.machine?.discard();
    instance.machine = undefined;
  }

  async #pause(wait: number): Promise<void> {
    if (wait > 0) await this.#clock.sleep(wait);
  }

  async #wait(wait: number, { ending }: CloudInstance): Promise<void> {
    if (wait > 0) await this.#clock.sleep(wait, ending.signal).catch(() => {});
  }
}
