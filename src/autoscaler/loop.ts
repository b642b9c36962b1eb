import { messageOf } from '../base/errors.ts';
import type { Duration, Instant } from '../base/time/clock.ts';
import { steadyClock } from '../base/time/steady-clock.ts';
import type { InstanceId, NodeTypeName } from '../core/instance.ts';
import type { LifecycleTimeouts } from '../core/lifecycle.ts';
import type { Launch, Plan } from '../core/plan/plan.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import type { View } from '../core/view.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import { Ends } from './act/ends.ts';
import { type Edges, Executor } from './act/executor.ts';
import { followUpLaunches, forgiven, intendLaunch } from './act/launch.ts';
import { SetUpStops } from './act/set-up-stops.ts';
import { Book } from './book.ts';
import { type Checks, checks as usualChecks } from './check.ts';
import { autoscalerEvents as events } from './events.ts';
import type { Journal } from './journal.ts';
import { learn } from './learn.ts';
import { type Answers, assembleView, readAnswers } from './observe/observe.ts';
import { Sides } from './observe/sides.ts';
import { SliceHosts } from './observe/slice-hosts.ts';
import { type LoopSettings, loopSettings } from './settings.ts';
import { enough, WakeUps } from './wake-ups.ts';

/** The pure decision: `plan` of core/plan, or a stand-in. */
export type Planner = (view: View, spec: ScalingSpec, now: Instant) => Plan;

/** A machine that boots for longer than this is looked for as any other. */
const bootsWatched: Duration = 60_000;

export interface AutoscalerOptions extends Edges {
  readonly journal: Journal;
  readonly planner: Planner;
  /** Asked in every pass: the spec may change while the loop runs. */
  readonly spec: () => ScalingSpec;
  /** Ids of instances and tokens of launches: unique for all time. */
  readonly newId: () => string;
  readonly settings?: Partial<LoopSettings>;
  readonly checks?: Checks;
  /** Sees each pass's view and plan; for status pages and tests. */
  readonly onPass?: (view: View, plan: Plan) => void;
}

/**
 * Observe, plan, check, act; again when something happens, and at the latest after a sweep. All it knows is in the
 * journal: it may be stopped at any moment and started again elsewhere.
 */
export class Autoscaler {
  readonly #options: AutoscalerOptions;
  readonly #settings: LoopSettings;
  readonly #checks: Checks;
  readonly #book: Book;
  readonly #executor: Executor;
  readonly #wakeUps: WakeUps;
  readonly #sides: Sides;
  readonly #stops: SetUpStops;
  readonly #ends: Ends;
  #allocationTimeouts: ReadonlyMap<NodeTypeName, Duration> = new Map();
  #listedBefore = false;
  #forgiving = false;
  readonly #sliceHosts = new SliceHosts();

  constructor(options: AutoscalerOptions) {
    this.#options = { ...options, clock: steadyClock(options.clock) };
    this.#settings = { ...loopSettings, ...options.settings };
    this.#checks = options.checks ?? usualChecks;
    this.#book = new Book(options.journal, this.#options.clock, options.events, (type) => this.#timeoutsOf(type));
    this.#wakeUps = new WakeUps(this.#options.clock, this.#settings);
    this.#executor = new Executor(this.#options, this.#book, this.#settings, () => this.wake());
    this.#sides = new Sides(this.#options, this.#executor.calls);
    this.#stops = new SetUpStops(
      this.#executor,
      () => this.wake(),
      (instance) =>
        options.events.emit(events.dropped, { action: 'termination', instance, why: 'its setup is still running' }),
    );
    this.#ends = new Ends(this.#executor, this.#sides, this.#stops, this.#checks);
  }

  /** Something happened: new demand, an instance that came or went. */
  wake(): void {
    this.#wakeUps.wake();
  }

  /** Somebody has changed something: what was refused before is asked for at once. */
  forgive(): void {
    this.#forgiving = true;
    this.wake();
  }

  /** Ends the instance of a worker at once, with what runs on it. False where none runs under this id. */
  end(id: InstanceId): boolean {
    const record = this.#book.ledger.record(id);
    if (record?.kind !== 'worker' || record.status !== 'running' || this.#executor.busy(id)) return false;
    this.#executor.terminate([{ record, because: { kind: 'asked' } }]);
    return true;
  }

  /** Runs until the signal aborts. A pass that fails is reported and repeated. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const seen = this.#wakeUps.count;
      let wait = this.#settings.sweep;
      try {
        const { lookAgainAt = Number.POSITIVE_INFINITY } = await this.pass(signal);
        // A side that has just failed to answer is not asked more often for what is due.
        if (!this.#sides.anySilent) wait = Math.min(this.#sweep(), Math.max(0, lookAgainAt - clock.now()));
      } catch (error) {
        this.#options.events.emit(events.failed, { during: 'a pass', reason: messageOf(error) });
      }
      await this.#wakeUps.rest(seen, Math.max(wait, this.#settings.batchIdle), signal);
    }
    await this.#executor.stop();
    await this.#stops.settled();
  }

  /** A machine that is asked for may take as long as its type says. */
  #timeoutsOf(type: NodeTypeName): LifecycleTimeouts {
    const { timeouts } = this.#settings;
    const allocated = this.#allocationTimeouts.get(type);
    return allocated === undefined ? timeouts : { ...timeouts, allocated };
  }

  #sweep(): Duration {
    const { sweep, bootSweep, demandLag } = this.#settings;
    const now = this.#options.clock.now();
    let soonest = sweep;
    for (const { kind, status, since } of this.#book.ledger.records) {
      if (kind !== 'worker') continue;
      if (status === 'allocated' && now - since < bootsWatched) soonest = Math.min(soonest, bootSweep);
      if (status === 'running' && now - since < demandLag) soonest = Math.min(soonest, demandLag);
    }
    return soonest;
  }

  /** One look and what follows from it. Once the signal aborts nothing more is begun. */
  async pass(signal: AbortSignal = new AbortController().signal): Promise<Plan> {
    await this.#book.open();
    if (this.#forgiving) {
      this.#forgiving = false;
      await this.#book.write(forgiven(this.#book.ledger, this.#options.clock.now()));
    }
    const listedAt = this.#options.clock.now();
    const listing = this.#sides.list();
    if (this.#listedBefore) await this.#launchUntil(listing, signal);
    const instances = await listing;
    const state = await this.#sides.engineState();
    if (instances !== undefined) this.#listedBefore = true;
    const answers: Answers = {
      ...(instances === undefined ? {} : { instances, listedAt }),
      ...(state === undefined ? {} : { state }),
    };
    const plan = await this.#decide(answers, signal);
    if (signal.aborted) return plan;
    this.#executor.abandonGone();
    const givenUp = followUpLaunches(this.#executor, instances === undefined ? undefined : listedAt);
    await this.#book.write(givenUp);
    if (givenUp.length > 0) this.wake();
    if (instances !== undefined && state !== undefined) {
      this.#bringUp(instances);
      await this.#ends.carryOut(plan, instances, state);
    }
    return plan;
  }

  /**
   * Launches for what waits before the provider's list has come, and for what comes meanwhile: a list may take a minute, and
   * what was asked for is in the ledger. The first list is waited for: there may be more than the ledger knows.
   */
  async #launchUntil(listing: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort(enough);
    signal.addEventListener('abort', end);
    void listing.finally(end);
    while (!over.signal.aborted && !signal.aborted) {
      const seen = this.#wakeUps.count;
      await this.#launchEarly(signal);
      await this.#wakeUps.rest(seen, this.#settings.callDeadline, over.signal);
    }
    signal.removeEventListener('abort', end);
  }

  /** Nothing else is done on a view without the provider's list. */
  async #launchEarly(signal: AbortSignal): Promise<void> {
    const state = await this.#sides.engineState();
    if (state === undefined) return;
    const { tasks, gangs, standing } = state.demand;
    if (tasks.length + gangs.length + standing.length > 0) await this.#decide({ state }, signal);
  }

  /** Takes in what was answered, plans on it, and launches what the plan wants. */
  async #decide(answers: Answers, signal: AbortSignal): Promise<Plan> {
    const { ledger } = this.#book;
    const now = this.#options.clock.now();
    this.#sliceHosts.see(answers.instances ?? []);
    const spec = this.#sliceHosts.applyTo(this.#options.spec());
    this.#allocationTimeouts = new Map(
      spec.nodeTypes.flatMap(({ name, allocationTimeout: limit }) => (limit === undefined ? [] : [[name, limit]])),
    );
    const facts = readAnswers(ledger, answers, {
      now,
      timeoutsOf: (type) => this.#timeoutsOf(type),
      listLag: this.#settings.listLag,
      launching: (token) => this.#executor.launching(token),
      failedSetUp: (id) => this.#executor.failedSetUp(id),
      newId: this.#options.newId,
    });
    await this.#book.write([...facts, ...learn(facts, this.#executor, answers.instances)]);
    this.#executor.forgetFailedSetUps();
    this.#stops.forgetEnded();
    ledger.prune(now);
    const ending = (id: InstanceId): boolean => this.#stops.has(id);
    const view = assembleView(ledger, answers, { now, demandLag: this.#settings.demandLag, ending });
    const plan = this.#options.planner(view, spec, now);
    this.#options.onPass?.(this.#told(view), plan);
    await this.#book.write(plan.facts.map((fact) => ({ kind: 'planned', at: now, fact })));
    await this.#launch(
      plan.actions.filter((action) => action.kind === 'launch'),
      { spec, view, signal },
    );
    return plan;
  }

  /** What others see of a pass: that it did not wait for the provider's list does not make the provider silent. */
  #told(view: View): View {
    const provider = view.complete.provider || (this.#listedBefore && !this.#sides.isSilent('provider'));
    return { ...view, complete: { ...view.complete, provider }, silent: this.#sides.silent };
  }

  async #launch(
    actions: readonly Launch[],
    { spec, view, signal }: { readonly spec: ScalingSpec; readonly view: View; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, newId, events: sink } = this.#options;
    const leaving = new Set(view.instances.filter((each) => each.takenBackAt !== undefined).map(({ id }) => id));
    for (const action of actions) {
      if (signal.aborted) return;
      const type = spec.nodeTypes.find((each) => each.name === action.type);
      const staying = [...this.#book.ledger.records].filter(({ id }) => !leaving.has(id));
      const units = this.#checks.launch(action, spec, staying);
      if (units < action.count) {
        sink.emit(events.dropped, {
          action: 'a launch',
          type: action.type,
          why: `only ${units} of ${action.count} fit`,
        });
      }
      if (type === undefined || units === 0) continue;
      const slices = type.hostsPerSlice > 1 ? units : 1;
      const each = type.hostsPerSlice > 1 ? type.hostsPerSlice : units;
      for (let slice = 0; slice < slices && !signal.aborted; slice++) {
        const intent = intendLaunch(action, type, each, clock.now(), newId);
        await this.#book.write([intent]);
        const { zone, market, because } = action;
        sink.emit(events.launching, { type: type.name, count: each, zone, market, token: intent.token, because });
        this.#executor.launch({
          token: intent.token,
          type: type.name,
          count: each,
          market,
          ...(type.hostsPerSlice > 1 ? { slice: true } : {}),
          ...(type.launchHash === '' ? {} : { launchHash: type.launchHash }),
          ...(zone === undefined ? {} : { zone }),
        });
      }
    }
  }

  /**
   * Sets up machines that answer and carry no node yet. Called on a complete view only: an engine that is silent may
   * have a node there, and lets no new one in.
   */
  #bringUp(instances: readonly ProviderInstance[]): void {
    for (const machine of instances) {
      if (machine.state !== 'running') continue;
      const record = this.#book.ledger.ofMachine(machine.id);
      if (record?.kind !== 'worker' || record.isolated !== undefined || this.#stops.has(record.id)) continue;
      if (record.status === 'allocated' || record.status === 'setting-up') this.#executor.bringUp(record, machine);
    }
  }
}
