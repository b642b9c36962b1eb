import type { Duration, Instant } from '../base/time/clock.ts';
import { mantaTags } from '../core/ray-tags.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import { providerErrors } from '../providers/errors.ts';
import type { LaunchRequest, Provider, ProviderInstance, SliceMember } from '../providers/provider.ts';
import type { Faults } from './faults.ts';
import { asListed, never, type SimulatedMachine } from './machine.ts';
import type { Random } from './random.ts';
import { type CloudBehaviour, draw } from './scenario/scenario.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Watcher } from './watcher.ts';

/** How long a caller waits for an answer that does not come. */
const answerTimeout: Duration = 30_000;

export interface CloudOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly spec: ScalingSpec;
  readonly behaviour: CloudBehaviour;
  readonly faults: Faults;
  readonly watcher: Required<Watcher>;
}

/**
 * A cloud as seen through the provider contract. What it promises is what clouds promise: a token never makes a second
 * set, a list is complete but may be some seconds old, a machine that was ended is gone some seconds later.
 * `docs/simulation.md` describes its behaviour and its faults.
 */
export class SimulatedCloud implements Provider {
  readonly slices = true;
  readonly #options: CloudOptions;
  readonly #machines = new Map<string, SimulatedMachine>();
  readonly #alive = new Map<string, SimulatedMachine>();
  readonly #gone: SimulatedMachine[] = [];
  readonly #byToken = new Map<string, readonly SimulatedMachine[]>();
  #count = 0;

  constructor(options: CloudOptions) {
    this.#options = options;
  }

  get machines(): Iterable<SimulatedMachine> {
    return this.#machines.values();
  }

  /** Machines that still exist, those on their way out too. */
  get existing(): Iterable<SimulatedMachine> {
    return this.#alive.values();
  }

  machine(id: string): SimulatedMachine | undefined {
    return this.#machines.get(id);
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { time, faults } = this.#options;
    await this.#travel('list', signal);
    const at = faults.hit('staleList') ? time.now - faults.random.between(2_000, 20_000) : time.now;
    const listed: ProviderInstance[] = [];
    for (const machine of this.#visible(at)) {
      const instance = asListed(machine, at);
      if (instance === undefined) continue;
      listed.push(instance);
      if (faults.hit('duplicateEntry')) listed.push(instance);
    }
    await this.#answer('list', signal);
    return listed;
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { faults, watcher, time } = this.#options;
    watcher.launchCalled(request);
    await this.#travel('launch', signal);
    const made = this.#make(request);
    if (faults.hit('duplicateCall')) this.#make(request);
    await this.#answer('launch', signal);
    return made.flatMap((machine) => asListed(machine, time.now) ?? []);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    this.#options.watcher.terminateCalled(ids);
    await this.#travel('terminate', signal);
    for (const id of ids) for (const member of this.#withSlice(id)) this.#end(member);
    await this.#answer('terminate', signal);
  }

  async stop(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { watcher, time } = this.#options;
    watcher.terminateCalled(ids);
    await this.#travel('stop', signal);
    for (const id of ids) {
      const machine = this.#alive.get(id);
      if (machine === undefined || asListed(machine, time.now)?.state !== 'running') continue;
      machine.offAt = time.now;
      watcher.stopped(machine);
    }
    await this.#answer('stop', signal);
  }

  async tag(id: string, _tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    await this.#travel('tag', signal);
    if (!this.#alive.has(id)) throw providerErrors.NotFound({ id });
  }

  /** A machine that exists before the run begins, or that somebody else made: no call, no fault, no wait. */
  place(machine: Pick<SimulatedMachine, 'type' | 'kind' | 'token'> & { zone?: string }): SimulatedMachine {
    const { time, watcher } = this.#options;
    const offer = this.#options.spec.nodeTypes.find((type) => type.name === machine.type)?.offers[0];
    const made = this.#add({
      ...machine,
      zone: machine.zone ?? offer?.zone,
      market: offer?.market ?? 'on-demand',
      pricePerHour: offer?.pricePerHour,
      bootedAt: time.now,
    });
    watcher.launched([made], undefined);
    return made;
  }

  /** Takes a machine back, with or without a warning. */
  preempt(machine: SimulatedMachine, notice: Duration): void {
    const { time } = this.#options;
    if (machine.preemptionAt !== undefined || machine.goneAt <= time.now) return;
    machine.noticeAt = notice > 0 ? time.now : never;
    machine.preemptionAt = time.now + notice;
    time.after(notice, () => this.#remove(machine));
  }

  #make(request: LaunchRequest): readonly SimulatedMachine[] {
    const { time, behaviour, faults, spec, watcher } = this.#options;
    const earlier = this.#byToken.get(request.token);
    if (earlier !== undefined) return earlier.filter((machine) => machine.goneAt > time.now);
    const asked = { type: request.type, zone: request.zone, market: request.market };
    if (faults.hit('denied')) throw providerErrors.Denied({ call: 'launch' });
    if (faults.hit('quota')) throw providerErrors.Quota(asked);
    const hosts = request.slice?.hosts ?? 1;
    const room = Math.floor((faults.hit('noCapacity') ? 0 : this.#room(request)) / hosts);
    let units = Math.min(request.count, room);
    if (units > 1 && faults.hit('partialFill')) units = 1 + faults.random.below(units - 1);
    if (units === 0) throw providerErrors.NoCapacity(asked);
    const started = this.#startAgain(request, units * hosts);
    const offer = spec.nodeTypes
      .find((type) => type.name === request.type)
      ?.offers.find((each) => each.zone === request.zone && each.market === request.market);
    const fresh = Array.from({ length: units * hosts - started.length }, (_, index) => {
      const machine = this.#add({
        token: request.token,
        type: request.type,
        kind: 'worker',
        zone: request.zone,
        market: request.market,
        pricePerHour: offer?.pricePerHour,
        tags: request.tags,
        slice: sliceOf(request, index),
        bootedAt: faults.hit('deadBoot') ? never : time.now + draw(behaviour.boot, this.#fate('boot', this.#count)),
      });
      this.#schedulePreemption(machine);
      if (faults.hit('lateRefusal')) this.#refuseLate(machine);
      return machine;
    });
    const made = [...started, ...fresh];
    this.#byToken.set(request.token, made);
    watcher.launched(made, request);
    return made;
  }

  /** Machines that are switched off and are what is asked for: they boot again, under the token of this launch. */
  #startAgain({ type, zone, market, token, tags, slice }: LaunchRequest, most: number): SimulatedMachine[] {
    const { time, behaviour } = this.#options;
    if (slice !== undefined) return [];
    const asked = JSON.stringify([type, zone, market, tags[mantaTags.launchHash]]);
    const off = [...this.#alive.values()].filter(
      (each) =>
        asListed(each, time.now)?.state === 'stopped' &&
        JSON.stringify([each.type, each.zone, each.market, each.tags[mantaTags.launchHash]]) === asked,
    );
    return off.slice(0, most).map((machine) => {
      const { bootedAt, offAt } = machine;
      machine.before.push({ token: machine.token, bootedAt, offAt, until: time.now });
      machine.token = token;
      machine.offAt = never;
      machine.bootedAt = time.now + draw(behaviour.boot, this.#fate('boot', this.#count));
      return machine;
    });
  }

  /** Some seconds later it is ended, before it boots; for a minute lists still show it. */
  #refuseLate(machine: SimulatedMachine): void {
    const { time, faults } = this.#options;
    machine.bootedAt = never;
    time.after(faults.random.between(1_000, 20_000), () => {
      if (machine.stoppingAt <= time.now || machine.goneAt <= time.now) return;
      machine.failed = { kind: 'no-capacity', detail: 'there was no machine left' };
      machine.stoppingAt = time.now;
      time.after(60_000, () => this.#remove(machine));
    });
  }

  /** Machines the cloud still has for such a request. */
  #room(request: LaunchRequest): number {
    const { time, behaviour } = this.#options;
    let room = Number.POSITIVE_INFINITY;
    for (const rule of behaviour.capacity) {
      if (time.now < rule.from || time.now >= rule.until) continue;
      if (!concerns(rule, request)) continue;
      let used = 0;
      for (const machine of this.#alive.values())
        if (machine.kind === 'worker' && machine.offAt > time.now && concerns(rule, machine)) used++;
      room = Math.min(room, Math.max(0, rule.limit - used));
    }
    return room;
  }

  #schedulePreemption(machine: SimulatedMachine): void {
    const { time, behaviour } = this.#options;
    const random = this.#fate('preemption', this.#count);
    for (const rule of behaviour.preemption) {
      if (!concerns(rule, machine)) continue;
      const at = Math.max(time.now, rule.from) + random.exponential(rule.every);
      if (at < rule.until) time.at(at, () => this.preempt(machine, rule.notice ?? 0));
    }
  }

  /** Hosts of one slice end together. */
  #withSlice(id: string): readonly string[] {
    const slice = this.#alive.get(id)?.slice?.id;
    return slice === undefined
      ? [id]
      : [...this.#alive.values()].filter((each) => each.slice?.id === slice).map((each) => each.id);
  }

  #end(id: string): void {
    const { time, random, watcher } = this.#options;
    const machine = this.#alive.get(id);
    if (machine === undefined || machine.stoppingAt <= time.now) return;
    machine.stoppingAt = time.now;
    watcher.terminated(machine);
    time.after(random.between(2_000, 20_000), () => this.#remove(machine));
  }

  #remove(machine: SimulatedMachine): void {
    if (!this.#alive.delete(machine.id)) return;
    machine.goneAt = this.#options.time.now;
    this.#gone.push(machine);
    this.#options.watcher.gone(machine);
  }

  #add(
    machine: Omit<
      SimulatedMachine,
      | 'id'
      | 'tags'
      | 'slice'
      | 'createdAt'
      | 'offAt'
      | 'before'
      | 'failed'
      | 'stoppingAt'
      | 'goneAt'
      | 'noticeAt'
      | 'preemptionAt'
    > &
      Partial<Pick<SimulatedMachine, 'tags' | 'slice'>>,
  ): SimulatedMachine {
    const made: SimulatedMachine = {
      tags: {},
      slice: undefined,
      ...machine,
      id: `i-${String(++this.#count).padStart(5, '0')}`,
      offAt: never,
      before: [],
      failed: undefined,
      createdAt: this.#options.time.now,
      stoppingAt: never,
      goneAt: never,
      noticeAt: never,
      preemptionAt: undefined,
    };
    this.#machines.set(made.id, made);
    this.#alive.set(made.id, made);
    return made;
  }

  /** Chance for the n-th machine: the same no matter who asks for it and what else was asked before. */
  #fate(what: string, ordinal: number): Random {
    return this.#options.random.split(`${what} ${ordinal}`);
  }

  /** Machines that a list taken at `at` may name: those alive now, and those that went since. */
  *#visible(at: Instant): Iterable<SimulatedMachine> {
    yield* this.#alive.values();
    if (at === this.#options.time.now) return;
    for (let index = this.#gone.length - 1; index >= 0; index--) {
      const machine = this.#gone[index] as SimulatedMachine;
      if (machine.goneAt <= at) return;
      yield machine;
    }
  }

  /** The way of a call to the cloud: it takes time, and may end in a refusal or nowhere. */
  async #travel(call: string, signal: AbortSignal): Promise<void> {
    const { time, random, behaviour, faults } = this.#options;
    const slow = faults.hit('slowCall') ? 8 : 1;
    if (faults.hit('lostRequest')) {
      await time.sleep(answerTimeout, signal);
      throw providerErrors.Unreachable({ call });
    }
    await time.sleep((slow * draw(behaviour.latency, random)) / 2, signal);
    if (faults.hit('throttle')) throw providerErrors.Throttled({ call });
  }

  /** The way back: the call has taken effect, whether or not its caller learns of it. */
  async #answer(call: string, signal: AbortSignal): Promise<void> {
    const { time, random, behaviour, faults } = this.#options;
    if (faults.hit('lostAnswer')) {
      await time.sleep(answerTimeout, signal);
      throw providerErrors.Unreachable({ call });
    }
    await time.sleep(draw(behaviour.latency, random) / 2, signal);
  }
}

const sliceOf = ({ slice, token }: LaunchRequest, index: number): SliceMember | undefined =>
  slice && { id: `${token}/${Math.floor(index / slice.hosts)}`, index: index % slice.hosts, of: slice.hosts };

function concerns(
  rule: { readonly type?: string; readonly zone?: string; readonly market?: string },
  machine: { readonly type: string; readonly zone?: string | undefined; readonly market: string },
): boolean {
  return (
    (rule.type === undefined || rule.type === machine.type) &&
    (rule.zone === undefined || rule.zone === machine.zone) &&
    (rule.market === undefined || rule.market === machine.market)
  );
}
