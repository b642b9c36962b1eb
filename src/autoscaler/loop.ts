import type { Duration, Instant } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { steadyClock } from '../base/steady-clock.ts';
import type { InstanceId } from '../core/instance.ts';
import { mustEnd } from '../core/lifecycle.ts';
import type { Drain, Launch, Plan, Terminate } from '../core/plan/plan.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import type { Silence, View } from '../core/view.ts';
import type { EngineState } from '../engines/engine.ts';
import { engineErrors } from '../engines/errors.ts';
import { providerErrors } from '../providers/errors.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import { Book } from './book.ts';
import { type Checks, checks as usualChecks } from './check.ts';
import { autoscalerEvents as events } from './events.ts';
import { type Edges, type End, Executor } from './executor.ts';
import type { Journal } from './journal.ts';
import { followUpLaunches, forgiven, intendLaunch } from './launch.ts';
import { learn } from './learn.ts';
import { type Answers, assembleView, nodesByMachine, readAnswers, takenBack } from './observe.ts';
import { SetUpStops } from './set-up-stops.ts';
import { type LoopSettings, loopSettings } from './settings.ts';

/** The pure decision: `plan` of core/plan, or a stand-in. */
export type Planner = (view: View, spec: ScalingSpec, now: Instant) => Plan;

/** A machine that boots for longer than this is looked for as any other. */
const bootsWatched: Duration = 60_000;
/** Ends a wait that nobody asks the reason of. One for all: making one costs more than the rest of a pass. */
const enough = new DOMException('There is something to do', 'AbortError');

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
  readonly #silent = new Map<'provider' | 'engine', Silence>();
  readonly #stops: SetUpStops;
  #wakeUps = 0;
  #listedBefore = false;
  #forgiving = false;
  #woken: (() => void) | undefined;

  constructor(options: AutoscalerOptions) {
    this.#options = { ...options, clock: steadyClock(options.clock) };
    this.#settings = { ...loopSettings, ...options.settings };
    this.#checks = options.checks ?? usualChecks;
    this.#book = new Book(options.journal, this.#options.clock, options.events, this.#settings.timeouts);
    this.#executor = new Executor(this.#options, this.#book, this.#settings, () => this.wake());
    this.#stops = new SetUpStops(
      this.#executor,
      () => this.wake(),
      (id) => this.#dropped('an end', id, 'its set-up goes on'),
    );
  }

  /** Something happened: new demand, an instance that came or went. */
  wake(): void {
    this.#wakeUps++;
    this.#woken?.();
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

  /** Runs until the signal aborts. A pass that fails is told of and made again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const seen = this.#wakeUps;
      let wait = this.#settings.sweep;
      try {
        const { lookAgainAt = Number.POSITIVE_INFINITY } = await this.pass(signal);
        // A side that has just failed to answer is not asked more often for what is due.
        if (this.#silent.size === 0) wait = Math.min(this.#sweep(), Math.max(0, lookAgainAt - clock.now()));
      } catch (error) {
        this.#options.events.emit(events.failed, { during: 'a pass', reason: messageOf(error) });
      }
      await this.#rest(seen, Math.max(wait, this.#settings.batchIdle), signal);
    }
    await this.#executor.stop();
    await this.#stops.settled();
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
    const listing = this.#list();
    if (this.#listedBefore) await this.#launchUntil(listing, signal);
    const instances = await listing;
    const state = await this.#engineState();
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
      await this.#end(plan, instances, state);
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
      const seen = this.#wakeUps;
      await this.#launchEarly(signal);
      await this.#rest(seen, this.#settings.callDeadline, over.signal);
    }
    signal.removeEventListener('abort', end);
  }

  /** Nothing else is done on a view without the provider's list. */
  async #launchEarly(signal: AbortSignal): Promise<void> {
    const state = await this.#engineState();
    if (state === undefined) return;
    const { tasks, gangs, standing } = state.demand;
    if (tasks.length + gangs.length + standing.length > 0) await this.#decide({ state }, signal);
  }

  /** Takes in what was answered, plans on it, and launches what the plan wants. */
  async #decide(answers: Answers, signal: AbortSignal): Promise<Plan> {
    const { ledger } = this.#book;
    const now = this.#options.clock.now();
    const facts = readAnswers(ledger, answers, {
      now,
      timeouts: this.#settings.timeouts,
      listLag: this.#settings.listLag,
      launching: (token) => this.#executor.launching(token),
      failedSetUps: this.#executor.failedSetUps,
      newId: this.#options.newId,
    });
    await this.#book.write([...facts, ...learn(facts, this.#executor, answers.instances)]);
    this.#executor.forgetFailedSetUps();
    this.#stops.forgetEnded();
    ledger.prune(now);
    const spec = this.#options.spec();
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
    const provider = view.complete.provider || (this.#listedBefore && !this.#silent.has('provider'));
    return { ...view, complete: { ...view.complete, provider }, silent: Object.fromEntries(this.#silent) };
  }

  /** Undefined when the provider did not answer in full. */
  #list(): Promise<readonly ProviderInstance[] | undefined> {
    const late = (): Error => providerErrors.Unreachable({ call: 'list' });
    return this.#executor.calls
      .make(late, (signal) => this.#options.provider.list(signal))
      .then((answer) => this.#answered('provider', answer))
      .catch((error: unknown) => this.#missing('provider', error));
  }

  /** Undefined when the engine did not answer in full. */
  #engineState(): Promise<EngineState | undefined> {
    const late = (): Error => engineErrors.Unreachable({ call: 'state' });
    return this.#executor.calls
      .make(late, (signal) => this.#options.engine.state(signal))
      .then((answer) => this.#answered('engine', answer))
      .catch((error: unknown) => this.#missing('engine', error));
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
          why: `room for ${units} of ${action.count}`,
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

  /** Drains and ends, what the plan wants and what earlier orders left to do. Called on a complete view only. */
  async #end(plan: Plan, instances: readonly ProviderInstance[], state: EngineState): Promise<void> {
    this.#drain(
      plan.actions.filter((action) => action.kind === 'drain'),
      instances,
      state,
    );
    const ends = this.#followUps(instances);
    for (const action of plan.actions) {
      if (action.kind !== 'terminate') continue;
      const record = this.#book.ledger.record(action.instance);
      if (record !== undefined && !ends.some((end) => end.record.id === record.id)) {
        ends.push({ record, because: action.because });
      }
    }
    for (const end of ends) if (this.#executor.inSetUp(end.record)) this.#stops.begin(end);
    const ready = [...this.#stops.stopped(), ...ends.filter(({ record }) => !this.#executor.inSetUp(record))];
    if (ready.length > 0) await this.#terminate(ready);
  }

  #drain(actions: readonly Drain[], instances: readonly ProviderInstance[], state: EngineState): void {
    const nodes = nodesByMachine(state.nodes);
    const nodeOf = (providerId: string | undefined) => (providerId === undefined ? undefined : nodes.get(providerId));
    for (const action of actions) {
      const record = this.#book.ledger.record(action.instance);
      if (record !== undefined && this.#executor.busy(record.id)) continue;
      const why = this.#checks.drain(action, record, nodeOf(record?.providerId));
      if (why !== undefined) this.#dropped('a drain', action.instance, why);
      else if (record !== undefined) this.#executor.drain(record, action.node, action.because);
    }
    const notices = takenBack(this.#book.ledger, instances);
    for (const machine of instances) {
      const record = this.#book.ledger.ofMachine(machine.id);
      const node = nodes.get(machine.id);
      const deadline = notices.get(machine.id);
      if (record?.kind !== 'worker' || node?.state !== 'alive' || this.#executor.busy(record.id)) continue;
      if (deadline !== undefined && (record.status === 'running' || record.status === 'drain-requested')) {
        this.#executor.drain(record, node.id, { kind: 'preemption', deadline });
      } else if (record.status === 'drain-requested' && node.idleFor > 0) {
        // The answer to an earlier drain was lost and the node has not begun to drain: ask again.
        this.#executor.drain(record, node.id, { kind: 'follow-up', status: record.status });
      }
    }
  }

  /** What must end whatever the plan says, and what was told to end and is still there. */
  #followUps(instances: readonly ProviderInstance[]): End[] {
    const now = this.#options.clock.now();
    const ends: End[] = [];
    const listed = new Map(instances.map((machine) => [machine.id, machine.state]));
    for (const record of this.#book.ledger.records) {
      if (record.kind === 'head' || record.providerId === undefined) continue;
      const again =
        record.status === 'terminating' &&
        listed.has(record.providerId) &&
        listed.get(record.providerId) !== 'stopping' &&
        Math.abs(now - record.since) >= this.#settings.terminateAgain;
      if (mustEnd(record.status) || again) ends.push({ record, because: { kind: 'follow-up', status: record.status } });
    }
    return ends;
  }

  /** Checks once more, on a state of the engine taken after the decision, and ends what is still to be ended. */
  async #terminate(wanted: readonly End[]): Promise<void> {
    const state = await this.#engineState();
    if (state === undefined) return;
    const nodes = nodesByMachine(state.nodes);
    const ends: End[] = [];
    for (const { record: before, because } of wanted) {
      const record = this.#book.ledger.record(before.id);
      if (record === undefined || this.#executor.busy(record.id)) continue;
      const node = record.providerId === undefined ? undefined : nodes.get(record.providerId);
      const action: Terminate = { kind: 'terminate', instance: record.id, because: because as Terminate['because'] };
      const why = this.#checks.terminate(action, record, node);
      // Its node came up after all: it is emptied first, like any other.
      if (node?.state === 'alive' && mustEnd(record.status)) this.#executor.drain(record, node.id, because);
      if (why !== undefined) this.#dropped('an end', record.id, why);
      else ends.push({ record, because });
    }
    this.#executor.terminate(ends);
  }

  /** Waits for the next reason to look: a wake-up and the quiet after it, or the end of `wait`. */
  async #rest(seen: number, wait: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    if (this.#wakeUps === seen && !signal.aborted) {
      const sleeping = new AbortController();
      const stop = (): void => sleeping.abort(enough);
      this.#woken = stop;
      signal.addEventListener('abort', stop);
      await clock.sleep(wait, sleeping.signal).catch(() => {});
      signal.removeEventListener('abort', stop);
      this.#woken = undefined;
    }
    const { batchIdle, batchMax } = this.#settings;
    let quietSince = this.#wakeUps;
    if (quietSince === seen) return;
    for (let waited = 0; waited < batchMax && !signal.aborted; waited += batchIdle) {
      await clock.sleep(batchIdle, signal).catch(() => {});
      if (this.#wakeUps === quietSince) return;
      quietSince = this.#wakeUps;
    }
  }

  /** Told once, and again only when the reason is another or the side has answered in between. */
  #missing(side: 'provider' | 'engine', error: unknown): undefined {
    const reason = messageOf(error);
    const known = this.#silent.get(side);
    if (known?.reason === reason) return;
    this.#silent.set(side, { since: known?.since ?? this.#options.clock.now(), reason });
    this.#options.events.emit(events.partialView, { side, reason });
  }

  #answered<Answer>(side: 'provider' | 'engine', answer: Answer): Answer {
    this.#silent.delete(side);
    return answer;
  }

  #dropped(action: string, instance: string, why: string): void {
    this.#options.events.emit(events.dropped, { action, instance, why });
  }
}
