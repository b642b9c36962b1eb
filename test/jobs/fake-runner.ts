import { openLogWriter } from '../../src/base/files/log-segments.ts';
import type { Clock, Duration } from '../../src/base/time/clock.ts';
import type { EndCause } from '../../src/core/jobs/job.ts';
import { embeddedEnvironments } from '../../src/engines/embedded/environments.ts';
import type { AttemptOrder, AttemptReport, EnvironmentSupport, Runner } from '../../src/engines/runner.ts';

type Call = 'start' | 'stop' | 'attempts' | 'forget';

/**
 * An engine under the control of a test. It keeps the contract of Runner: one id never runs twice, ended attempts stay
 * until they are forgotten, `attempts` is complete or throws. It outlives the queue that speaks to it, as agents do.
 *
 * - Attempts with resources take CPU of a pool; others always have room.
 * - `begin`, `finish` and `lose` move attempts; with `auto` they begin at once.
 * - `fail(call)` makes the next call throw before it does anything; `loseAnswer(call)` after it has done it.
 * - An attempt in `travelling` has its room from the call on, and its start returns when it `arrives` or is stopped.
 * - `mute` holds reports back, as a mantad that is not there would miss them.
 */
export class FakeRunner implements Runner {
  environments: EnvironmentSupport = embeddedEnvironments;
  readonly orders: AttemptOrder[] = [];
  readonly stops: string[] = [];
  readonly starts = new Map<string, number>();
  readonly travelling = new Map<string, PromiseWithResolvers<void>>();
  auto = true;
  mute = false;
  cpus: number;
  #known = new Map<string, { order: AttemptOrder; report: AttemptReport }>();
  #listeners = new Set<(report: AttemptReport) => void>();
  #failures: { call: Call; after: boolean }[] = [];
  #clock: Clock;
  #used = 0;

  constructor(clock: Clock, cpus = 4) {
    this.#clock = clock;
    this.cpus = cpus;
  }

  hasRoom(order: Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>): boolean {
    return (order.resources['CPU'] ?? 0) <= this.cpus - this.#used;
  }

  start(order: AttemptOrder): Promise<void> {
    return this.#call('start', () => {
      const travel = this.travelling.get(order.id)?.promise;
      if (this.#known.has(order.id)) return travel;
      this.orders.push(order);
      this.starts.set(order.id, (this.starts.get(order.id) ?? 0) + 1);
      this.#used += order.resources['CPU'] ?? 0;
      this.#known.set(order.id, { order, report: { id: order.id, state: 'waiting', logSize: 0 } });
      if (travel) return travel.then(() => this.#arrived(order.id));
      return this.#arrived(order.id);
    });
  }

  arrives(attempt: string): void {
    this.travelling.get(attempt)?.resolve();
  }

  #arrived(attempt: string): void {
    if (this.auto) setImmediate(() => this.begin(attempt));
  }

  stop(attempt: string, _grace: Duration): Promise<void> {
    return this.#call('stop', () => {
      this.stops.push(attempt);
      const known = this.#known.get(attempt);
      this.arrives(attempt);
      if (known && known.report.state !== 'ended') setImmediate(() => this.finish(attempt, 'stopped', 143));
    });
  }

  attempts(): Promise<readonly AttemptReport[]> {
    return this.#call('attempts', () => [...this.#known.values()].map((each) => each.report));
  }

  forget(attempt: string): Promise<void> {
    return this.#call(
      'forget',
      () => void (this.#known.get(attempt)?.report.state === 'ended' && this.#known.delete(attempt)),
    );
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  begin(attempt: string): void {
    this.#report(attempt, { state: 'running', node: 'node-1', startedAt: this.#clock.now() });
  }

  /** What the engine comes to know of it besides. */
  learn(attempt: string, news: Pick<AttemptReport, 'submission' | 'driver'>): void {
    this.#report(attempt, news);
  }

  finish(attempt: string, cause: EndCause = 'succeeded', exitCode = cause === 'succeeded' ? 0 : 1, output = ''): void {
    const known = this.#known.get(attempt);
    if (!known || known.report.state === 'ended') return;
    const writer = openLogWriter(known.order.log, { now: () => this.#clock.now() });
    writer.write(Buffer.from(output));
    writer.end();
    this.#report(attempt, { state: 'ended', cause, exitCode, endedAt: this.#clock.now(), logSize: writer.size });
  }

  /** The engine forgets all about it, as when its node's disk is gone. */
  lose(attempt: string): void {
    const known = this.#known.get(attempt);
    if (known && known.report.state !== 'ended') this.#used -= known.order.resources['CPU'] ?? 0;
    this.#known.delete(attempt);
  }

  knows(attempt: string): boolean {
    return this.#known.has(attempt);
  }

  fail(call: Call): void {
    this.#failures.push({ call, after: false });
  }

  loseAnswer(call: Call): void {
    this.#failures.push({ call, after: true });
  }

  #report(attempt: string, news: Partial<AttemptReport>): void {
    const known = this.#known.get(attempt);
    if (!known || known.report.state === 'ended') return;
    known.report = { ...known.report, ...news };
    if (known.report.state === 'ended') this.#used -= known.order.resources['CPU'] ?? 0;
    if (!this.mute) for (const listener of this.#listeners) listener(known.report);
  }

  async #call<Result>(call: Call, act: () => Result | Promise<Result>): Promise<Result> {
    const at = this.#failures.findIndex((failure) => failure.call === call);
    const failure = at < 0 ? undefined : this.#failures.splice(at, 1)[0];
    if (failure && !failure.after) throw new Error(`no answer to ${call}`);
    const result = await act();
    if (failure) throw new Error(`the answer to ${call} was lost`);
    return result;
  }
}
