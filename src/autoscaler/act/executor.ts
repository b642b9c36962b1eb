import { MantaError, messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { BackOff } from '../../base/time/back-off.ts';
import type { Clock, Instant } from '../../base/time/clock.ts';
import type { InstanceId } from '../../core/instance.ts';
import { advance, type InstanceRecord, isFinal } from '../../core/lifecycle.ts';
import type { EndReason } from '../../core/plan/plan.ts';
import type { Engine } from '../../engines/engine.ts';
import { engineErrors } from '../../engines/errors.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import type { Book } from '../book.ts';
import { autoscalerErrors } from '../errors.ts';
import { autoscalerEvents as events } from '../events.ts';
import type { FollowUpReason } from '../journal.ts';
import type { FailedSetUp } from '../observe/observe.ts';
import type { LoopSettings } from '../settings.ts';
import type { NodeStarter } from '../starter.ts';
import { Calls } from './calls.ts';
import { carryOutLaunch, type LaunchOrder } from './launch.ts';

export interface Edges {
  readonly clock: Clock;
  readonly provider: Provider;
  readonly engine: Engine;
  readonly starter: NodeStarter;
  readonly events: EventSink;
}

/** When a launch got no answer, and what was said instead. */
interface Unanswered {
  readonly at: Instant;
  readonly said: string;
}

interface Actor {
  readonly kind: 'launch' | 'bring-up' | 'drain' | 'stop' | 'terminate';
  readonly abort?: AbortController;
  readonly done: Promise<void>;
}

/**
 * Everything Manta does to instances, one actor at a time for each of them. Orders run beside the loop; what comes of
 * them is written down and wakes it.
 */
export class Executor {
  readonly edges: Edges;
  readonly book: Book;
  readonly settings: LoopSettings;
  readonly calls: Calls;
  readonly #unanswered = new Map<string, Unanswered>();
  readonly #failedSetUps = new Map<InstanceId, FailedSetUp>();
  readonly #wake: () => void;
  readonly #actors = new Map<InstanceId, Actor>();
  readonly #launching = new Map<string, Promise<void>>();
  readonly #setUp = new Set<InstanceId>();
  /** An order that failed at once would be given again at once: what comes of it wakes the loop. */
  readonly #drains: BackOff;
  readonly #failedEnds: BackOff;
  readonly #stopping = new AbortController();

  constructor(edges: Edges, book: Book, settings: LoopSettings, wake: () => void) {
    this.edges = edges;
    this.book = book;
    this.settings = settings;
    this.calls = new Calls(edges.clock, settings.callDeadline);
    this.#wake = wake;
    this.#drains = new BackOff(edges.clock, settings.orderRetry, settings.terminateAgain);
    this.#failedEnds = new BackOff(edges.clock, settings.orderRetry, settings.terminateAgain);
  }

  /** Somebody is at work on it. */
  busy(id: InstanceId): boolean {
    return this.#actors.has(id);
  }

  launching(token: string): boolean {
    return this.#launching.has(token);
  }

  /** Nothing more is begun. */
  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Aborted from then on: nothing waits any longer to begin again. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The last try of a launch, where it was not answered. */
  unanswered(token: string): Unanswered | undefined {
    return this.#unanswered.get(token);
  }

  noteUnanswered(token: string, said: string): void {
    this.#unanswered.set(token, { at: this.edges.clock.now(), said });
  }

  /** Those that nobody waits for any more have had their answer. */
  forgetAnswered(waiting: ReadonlySet<string>): void {
    for (const token of this.#unanswered.keys()) if (!waiting.has(token)) this.#unanswered.delete(token);
  }

  /** Written down with the next list: it tells whether the machine was taken away. */
  failedSetUp(id: InstanceId): FailedSetUp | undefined {
    return this.#failedSetUps.get(id);
  }

  /** Cuts short what is under way; the journal knows how to go on with it. Resolves when nothing is. */
  async stop(): Promise<void> {
    const reason = autoscalerErrors.Stopped({});
    this.#stopping.abort(reason);
    this.calls.stop(reason);
    for (const actor of this.#actors.values()) actor.abort?.abort();
    await Promise.allSettled(
      [...this.#actors.values()].map((actor) => actor.done).concat([...this.#launching.values()]),
    );
  }

  /** Asks the provider for what a launch in the journal says. Safe to give again after a crash or a lost answer. */
  launch(order: LaunchOrder): void {
    if (this.#launching.has(order.token)) return;
    const done = carryOutLaunch(order, this)
      .catch((error: unknown) => this.failed('a launch', error))
      .finally(() => {
        this.#launching.delete(order.token);
        this.#wake();
      });
    this.#launching.set(order.token, done);
  }

  /** Sets a machine up, once for each life of this process. */
  bringUp(record: InstanceRecord, machine: ProviderInstance): void {
    if (this.#setUp.has(record.id)) return;
    const abort = new AbortController();
    this.#act(record.id, 'bring-up', () => this.#bringUp(record, machine, abort.signal), abort);
  }

  /** Gives up the setup of machines that are gone: nobody would answer it. */
  abandonGone(): void {
    for (const id of this.#setUp) if (this.book.ledger.record(id) === undefined) this.#setUp.delete(id);
    for (const [id, { kind, abort }] of this.#actors) {
      const record = this.book.ledger.record(id);
      if (kind === 'bring-up' && (record === undefined || isFinal(record.status))) abort?.abort();
    }
  }

  /** What failed is written down, or matters no more. */
  forgetFailedSetUps(): void {
    for (const id of this.#failedSetUps.keys()) {
      const status = this.book.ledger.record(id)?.status;
      if (status !== 'allocated' && status !== 'setting-up') this.#failedSetUps.delete(id);
    }
  }

  /** Empties a node, unless it was asked to a moment ago. Its instance is ended when the engine says that the node has stopped. */
  drain(record: InstanceRecord, node: string, because: EndReason | FollowUpReason, stops = false): void {
    // That an idle node has refused says nothing of one that is taken back.
    const order = because.kind === 'preemption' ? `${record.id} preemption` : record.id;
    if (this.busy(record.id) || this.#drains.rests(order)) return;
    this.#drains.tried(order);
    this.#act(record.id, 'drain', () => this.#drain(record, node, because, stops));
  }

  /** Ends machines; those whose last order failed a moment ago are left for a later pass. */
  terminate(ends: readonly End[]): void {
    const ready = ends.filter(({ record: { id } }) => !this.#failedEnds.rests(id));
    this.orderTogether('terminate', ready, (free) => this.terminateNow(free));
  }

  /** One order for several machines, as far as nobody is at work on them. */
  orderTogether(kind: 'stop' | 'terminate', ends: readonly End[], work: (ends: readonly End[]) => Promise<void>): void {
    const free = ends.filter(({ record: { id } }) => !this.busy(id));
    if (free.length === 0) return;
    const done = work(free)
      .catch((error: unknown) => this.failed(`${kind === 'stop' ? 'stopping' : 'terminating'} instances`, error))
      .finally(() => {
        for (const { record } of free) this.#actors.delete(record.id);
        this.#wake();
      });
    for (const { record } of free) this.#actors.set(record.id, { kind, done });
  }

  /** A setup is at work on its machine, or may be. */
  inSetUp({ id, status, providerId }: InstanceRecord): boolean {
    if (this.#actors.get(id)?.kind === 'bring-up') return true;
    return providerId !== undefined && (status === 'setting-up' || status === 'setup-failed');
  }

  /**
   * Makes sure that no setup is at work on a machine that is to be ended. False when that cannot be known: then a node
   * may come up on it at any moment.
   */
  async stopSetUp(record: InstanceRecord): Promise<boolean> {
    const actor = this.#actors.get(record.id);
    if (actor?.kind === 'bring-up') {
      actor.abort?.abort();
      await actor.done;
      this.#setUp.delete(record.id);
      return true;
    }
    const { providerId } = record;
    if (providerId === undefined || !this.inSetUp(record)) return true;
    const late = (): Error => autoscalerErrors.NoAnswer({ call: 'halt', instance: record.id });
    try {
      await this.calls.make(late, (signal) => this.edges.starter.halt(providerId, signal));
      return true;
    } catch (error) {
      if (!this.stopped) this.failed('stopping a setup', error);
      return false;
    }
  }

  #act(id: InstanceId, kind: Actor['kind'], work: () => Promise<void>, abort?: AbortController): void {
    if (this.#actors.has(id)) return;
    const done = work()
      .catch((error: unknown) => this.failed(kind, error))
      .finally(() => {
        this.#actors.delete(id);
        this.#wake();
      });
    this.#actors.set(id, { kind, done, ...(abort === undefined ? {} : { abort }) });
  }

  async #bringUp(record: InstanceRecord, machine: ProviderInstance, signal: AbortSignal): Promise<void> {
    const { starter, events: sink } = this.edges;
    await this.book.write(this.book.outcomes([[record.id, { kind: 'setup-started' }]]));
    this.#setUp.add(record.id);
    sink.emit(events.settingUp, { instance: record.id, type: record.type });
    try {
      await starter.bringUp(machine, signal);
    } catch (error) {
      if (signal.aborted) return;
      const reason = messageOf(error);
      const failure = error instanceof MantaError ? error.code : undefined;
      const { id: instance, type } = record;
      sink.emit(events.setupFailed, { instance, type, reason, host: machine.address?.inside, failure });
      this.#failedSetUps.set(record.id, { at: this.edges.clock.now(), reason });
    }
  }

  async #drain(
    record: InstanceRecord,
    node: string,
    because: EndReason | FollowUpReason,
    stops: boolean,
  ): Promise<void> {
    const { clock, engine, events: sink } = this.edges;
    const at = clock.now();
    if (record.status === 'running') {
      const { stopsNext: _, ...before } = record;
      const known: InstanceRecord = stops ? { ...before, stopsNext: true } : before;
      const step = advance(known, { outcomes: [{ kind: 'drain-sent' }] }, at, this.book.timeoutsOf(record.type));
      await this.book.write([{ kind: 'end', at, record: step.record, how: 'drain', because }]);
    }
    const reason =
      because.kind === 'preemption'
        ? { kind: 'preemption' as const, deadline: because.deadline }
        : { kind: 'idle' as const };
    const late = (): Error => engineErrors.Unreachable({ call: 'drain' });
    const answer = await this.calls.make(late, (signal) => engine.drain(node, reason, signal));
    if (answer.accepted) return;
    const why = answer.reason ?? 'the engine refused to drain it';
    sink.emit(events.drainRefused, { instance: record.id, reason: why });
    await this.book.write(this.book.outcomes([[record.id, { kind: 'drain-refused', reason: why }]]));
  }

  async terminateNow(ends: readonly End[]): Promise<void> {
    const { clock, provider } = this.edges;
    const at = clock.now();
    await this.book.write(
      ends.flatMap(({ record, because }) => {
        if (record.status === 'terminating') return [];
        const step = advance(record, { outcomes: [{ kind: 'terminate-sent' }] }, at, this.book.timeoutsOf(record.type));
        return [{ kind: 'end' as const, at, record: step.record, how: 'terminate' as const, because }];
      }),
    );
    const ids = ends.flatMap(({ record }) => record.providerId ?? []);
    try {
      await this.calls.make(
        () => providerErrors.Unreachable({ call: 'terminate' }),
        (signal) => provider.terminate(ids, signal),
      );
    } catch (error) {
      const reason = messageOf(error);
      for (const { record } of ends) this.#failedEnds.tried(record.id);
      await this.book.write(
        this.book.outcomes(ends.map(({ record }) => [record.id, { kind: 'terminate-failed', reason }])),
      );
    }
  }

  /** Reports what will be retried. */
  failed(during: string, error: unknown): void {
    this.edges.events.emit(events.failed, { during, reason: messageOf(error) });
  }
}

export interface End {
  readonly record: InstanceRecord;
  readonly because: EndReason | FollowUpReason;
}
