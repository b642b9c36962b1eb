import { messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { Slices } from '../../base/slices.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { GangDemand, TaskDemand } from '../../core/demand.ts';
import { type Block, candidates, type Limits, wantedNow } from '../../core/jobs/choose.ts';
import { charge, type Usage, usageOf } from '../../core/jobs/fair-share.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import { demandOf } from '../../core/jobs/queue-demand.ts';
import { applyEvent } from '../../core/jobs/transitions.ts';
import type { Runner } from '../../engines/runner.ts';
import { jobEvents } from '../events.ts';
import { needsPackages } from '../packages/prepare.ts';
import type { AttemptKeeper } from './attempts.ts';
import { releaseHeld } from './holding.ts';
import { type PreparationDeps, Preparations } from './preparations.ts';
import { RoomLooks } from './room-looks.ts';
import type { JobChange, JobStore } from './store.ts';

export interface DispatcherDeps extends Omit<PreparationDeps, 'changed'> {
  readonly store: JobStore;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly attempts: AttemptKeeper;
  /** Asked at every decision, so that changes apply at once. */
  readonly limits: () => Limits;
  /** Aborted when the queue closes. */
  readonly signal: AbortSignal;
}

/** How often to look when nobody says that something changed. */
const lookEvery = 1_000;
const reconcileEvery = 15_000;
const longestSyncPause = 2_000;
const startsAPass = 64;
/** Looking through a long queue without finding a job takes at most this share of the time. */
const lookingShare = 0.3;
const longQueue = 500;

/** The half of the queue that decides: whose turn it is, and who is handed to the engine now. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #preparations: Preparations;
  readonly #looks = new RoomLooks();
  #usage: Map<string, Usage>;
  #blocked: ReadonlyMap<string, Block> = new Map();
  #synced = false;
  #passing = false;
  #again = false;
  #wake = new AbortController();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#usage = usageOf(deps.store.jobs.values(), deps.clock.now());
    this.#preparations = new Preparations({ ...deps, changed: () => this.poke() });
  }

  /** The engine has told what it knows of the attempts of a former mantad. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Something changed: look again. */
  poke(): void {
    this.#again = true;
    this.#wake.abort();
    if (this.#passing || !this.#synced || this.#deps.signal.aborted) return;
    this.#passing = true;
    setImmediate(() => void this.#passes());
  }

  /** Asks the engine what it knows until it answers, and begins to hand over. */
  async run(): Promise<void> {
    const { attempts, store, clock, signal } = this.#deps;
    for (
      let wait = 100;
      !signal.aborted && !(await attempts.reconcile());
      wait = Math.min(longestSyncPause, wait * 2)
    ) {
      await clock.sleep(wait, signal).catch(() => {});
    }
    if (signal.aborted) return;
    for (const job of store.live.values()) {
      if (job.state === 'stopping' || job.attempts.at(-1)?.endsFor) attempts.end(job);
    }
    this.#synced = true;
    void this.#keepLooking();
    this.poke();
  }

  /** Charges what has ended to its user and drops what was prepared for jobs that need it no more. */
  account({ id, before, after }: JobChange): void {
    const { clock } = this.#deps;
    const ended = after?.attempts.at(-1);
    if (
      after &&
      ended?.cause !== undefined &&
      before?.attempts.at(-1)?.cause === undefined &&
      ended.startedAt !== undefined
    ) {
      const ran = (ended.endedAt ?? clock.now()) - ended.startedAt;
      this.#usage = charge(this.#usage, after.user, after, ran, clock.now());
    }
    if (!after || isOver(after.state) || after.state === 'stopping') this.#preparations.drop(id);
  }

  /** Brings a job whose attempt was fixed but never reached the engine to its start again. */
  restart(job: Job): void {
    void this.#handOver(job).catch((error: unknown) => this.#trouble(error));
  }

  demand(): { readonly tasks: readonly TaskDemand[]; readonly gangs: readonly GangDemand[] } {
    const { limits, clock } = this.#deps;
    return demandOf(wantedNow(this.#waiting(), this.#handedOver(), this.#usage, limits(), clock.now()));
  }

  blockOf(id: string): Block | undefined {
    return this.#blocked.get(id);
  }

  #waiting(): Job[] {
    return [...this.#deps.store.live.values()].filter((job) => job.state === 'queued');
  }

  #handedOver(): Job[] {
    return [...this.#deps.store.live.values()].filter(
      (job) => job.state === 'starting' || job.state === 'running' || job.state === 'stopping',
    );
  }

  async #passes(): Promise<void> {
    const { signal, store } = this.#deps;
    try {
      while (this.#again && !signal.aborted) {
        this.#again = false;
        const began = performance.now();
        const started = await this.#pass();
        const rest = (performance.now() - began) * (1 / lookingShare - 1);
        if (started === 0 && store.live.size > longQueue) await pauseBriefly(rest);
      }
    } catch (error) {
      this.#trouble(error);
    } finally {
      this.#passing = false;
    }
    if (this.#again && !signal.aborted) this.poke();
  }

  /** Starts what may start; returns how many did. */
  async #pass(): Promise<number> {
    const { limits, clock, runner, signal } = this.#deps;
    await releaseHeld(this.#deps);
    const turns = candidates(
      this.#waiting().filter((job) => this.#preparations.of(job) !== undefined),
      this.#handedOver(),
      this.#usage,
      limits(),
      clock.now(),
    );
    let turn = turns.next();
    let started = 0;
    const slices = new Slices();
    // What came meanwhile may go first.
    while (!turn.done && started < startsAPass && !signal.aborted) {
      const job = turn.value;
      const { resources, labels, gang } = job;
      const room = this.#looks.hasRoom(job, () => runner.hasRoom({ resources, labels, ...(gang && { gang }) }));
      if (room) await this.#startNow(job);
      started += room ? 1 : 0;
      await slices.pause();
      turn = turns.next(room);
    }
    this.#looks.endPass();
    if (turn.done) this.#blocked = turn.value;
    else this.#again = true;
    return started;
  }

  /**
   * The attempt is in the journal before the engine hears of it; the engine has heard of it, and booked its room, before the
   * next is chosen. Whose packages have to travel to the engine is not waited for: that may take minutes.
   */
  async #startNow(job: Job): Promise<void> {
    const { store, clock } = this.#deps;
    const journalled = await store.change((transaction) => {
      const now = transaction.get(job.id);
      const result = now && applyEvent(now, { kind: 'hand-over' }, clock.now());
      if (!result || 'refused' in result) return undefined;
      transaction.put(result.job);
      transaction.fact('starting', clock.now(), job.id, { attempt: result.job.attempts.at(-1)?.id });
      return result.job;
    });
    if (!journalled) return;
    const handing = this.#handOver(journalled);
    if (needsPackages(job)) handing.catch((error: unknown) => this.#trouble(error));
    else await handing;
  }

  async #handOver(job: Job): Promise<void> {
    const { attempts } = this.#deps;
    const ready = this.#preparations.of(job);
    if (ready) await attempts.start(job, ready);
    else await this.#preparations.prepare(job, (made) => attempts.start(job, made));
  }

  /** Held jobs come due, nodes may have come unannounced, reports may have been missed. */
  async #keepLooking(): Promise<void> {
    const { store, clock, signal, attempts } = this.#deps;
    let reconciledAt = 0;
    for (let looks = 0; !signal.aborted; looks++) {
      if (store.live.size === 0) {
        this.#wake = new AbortController();
        await clock.sleep(60_000, AbortSignal.any([this.#wake.signal, signal])).catch(() => {});
        continue;
      }
      await clock.sleep(lookEvery, signal).catch(() => {});
      this.poke();
      if (looks - reconciledAt >= reconcileEvery / lookEvery && this.#handedOver().length > 0) {
        reconciledAt = looks;
        await attempts.reconcile();
      }
    }
  }

  #trouble(error: unknown): void {
    const { signal, events } = this.#deps;
    if (!signal.aborted) events.emit(jobEvents.journalTrouble, { detail: messageOf(error) });
  }
}

/** Real time, not the clock's: it spares this process, and means nothing to jobs. */
const pauseBriefly = (duration: Duration): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(200, duration)));
