import { endLog, logExtent } from '../../base/files/log-segments.ts';
import { endProcesses, findMarked } from '../../base/process.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { EndCause } from '../../core/jobs/job.ts';
import { plus } from '../../core/placement/booking.ts';
import { place } from '../../core/placement/placement.ts';
import type { Resources } from '../../core/resources.ts';
import type { AttemptOrder, AttemptReport } from '../runner.ts';
import type { OrderRecord } from './attempt-files.ts';
import { AttemptFiles } from './attempt-files.ts';
import { embeddedErrors } from './errors.ts';
import type { NodeTable } from './node-table.ts';
import { nodeId } from './paths.ts';
import type { Hello } from './protocol.ts';

interface Tracked {
  record: OrderRecord;
  report: AttemptReport;
  /** It may have reached an agent. Once true, only that agent's word or death says what became of it. */
  sent: boolean;
  stop?: { readonly grace: Duration };
  /** A node has just refused what seemed to fit on it. */
  notBefore?: number;
}

/** A node that refused what seemed to fit is asked again after this long. */
const askAgainAfter = 200;

/** Attempts that the engine has taken over: placed, sent to their agents, followed to their ends, kept until forgotten. */
export class AttemptTable {
  readonly #files: AttemptFiles;
  readonly #nodes: NodeTable;
  readonly #clock: Clock;
  readonly #attempts = new Map<string, Tracked>();
  /** In the order in which they came; those that no longer wait are dropped when it is next gone through. */
  readonly #queue = new Set<Tracked>();
  readonly #listeners = new Set<(report: AttemptReport) => void>();
  #placing = false;
  #closed = false;

  constructor(engineFolder: string, nodes: NodeTable, clock: Clock) {
    this.#files = new AttemptFiles(engineFolder);
    this.#nodes = nodes;
    this.#clock = clock;
    for (const { record, end } of this.#files.all()) {
      const id = record.order.id;
      const node = record.placement?.[0]?.node;
      const where = node === undefined ? {} : { node: nodeId(node) };
      const report: AttemptReport = end
        ? { id, state: 'ended', ...where, ...end }
        : { id, state: 'waiting', ...where, logSize: 0 };
      const attempt = { record, report, sent: true };
      this.#attempts.set(id, attempt);
      if (!end) this.#book(record);
      if (isWaiting(attempt)) this.#queue.add(attempt);
    }
    nodes.connect({
      hello: (instance, hello) => this.#meet(instance, hello),
      report: (report) => this.#reported(report),
      sizes: (sizes) => this.#sized(sizes),
      lost: (instance, preempted) => this.#lost(instance, preempted),
    });
    nodes.watch(() => this.#placeSoon());
  }

  /** From here on nothing is written or told: the folder may be another head's. */
  close(): void {
    this.#closed = true;
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  waiting(): AttemptOrder[] {
    return [...this.#queue].filter(isWaiting).map((each) => each.record.order);
  }

  /** Gives room to those that wait for it, before anybody who comes later is told that there is some. */
  placeWaiting(): void {
    for (const attempt of this.#queue) {
      if (performance.now() < (attempt.notBefore ?? 0)) continue;
      const placement = isWaiting(attempt) ? place(attempt.record.order, this.#nodes.rooms()) : [];
      if (!placement) continue;
      this.#queue.delete(attempt);
      if (placement.length === 0) continue;
      attempt.record = { ...attempt.record, placement };
      attempt.sent = false;
      this.#files.writeOrder(attempt.record);
      this.#book(attempt.record);
      void this.#send(attempt);
    }
  }

  /** With sizes as they are on disk: the agents tell theirs only now and then. */
  async reports(): Promise<AttemptReport[]> {
    return Promise.all(
      [...this.#attempts.values()].map(async ({ record, report }) =>
        report.state === 'ended' ? report : { ...report, logSize: (await logExtent(record.order.log)).size },
      ),
    );
  }

  /** On disk when it returns; the same id again changes nothing. */
  take(order: AttemptOrder): void {
    if (this.#attempts.has(order.id)) return;
    this.placeWaiting();
    const placement = place(order, this.#nodes.rooms());
    const record: OrderRecord = {
      format: 1,
      order,
      takenAt: this.#clock.now(),
      ...(placement === undefined ? {} : { placement }),
    };
    this.#files.writeOrder(record);
    const attempt: Tracked = { record, report: { id: order.id, state: 'waiting', logSize: 0 }, sent: false };
    this.#attempts.set(order.id, attempt);
    if (placement) {
      this.#book(record);
      void this.#send(attempt);
    } else this.#queue.add(attempt);
    this.#tell(attempt);
  }

  async stop(id: string, grace: Duration): Promise<void> {
    const attempt = this.#attempts.get(id);
    if (!attempt || attempt.report.state === 'ended') return;
    attempt.stop = { grace };
    if (isWaiting(attempt)) await this.#finish(attempt, 'stopped', 'stopped before it started');
    // A link that is down comes back with a greeting, and the wish is repeated then.
    else if (attempt.sent) await this.#askToStop(attempt).catch(() => {});
  }

  async forget(id: string): Promise<void> {
    const attempt = this.#attempts.get(id);
    if (attempt?.report.state !== 'ended') return;
    this.#attempts.delete(id);
    await this.#files.remove(id);
    const home = this.#home(attempt);
    // An agent that misses this is told when it next greets.
    if (home !== undefined)
      await this.#nodes
        .get(home)
        ?.link.call('forget', { attempt: id })
        .catch(() => {});
  }

  /** Attempts with a part on instances of which nothing is left: it is lost with them. */
  async resolveStrays(): Promise<void> {
    const open = [...this.#attempts.values()].filter((attempt) => attempt.report.state !== 'ended');
    const instances = open.flatMap((attempt) => [...this.#shares(attempt.record).keys()]);
    for (const instance of new Set(instances)) {
      if (this.#nodes.has(instance)) continue;
      await endProcesses(() => findMarked(instance), 0);
      this.#lost(instance, false);
    }
  }

  #home(attempt: Tracked): string | undefined {
    return attempt.record.placement?.[0]?.node;
  }

  /** What a placement books on each node. */
  #shares(record: OrderRecord): Map<string, Resources> {
    const shares = new Map<string, Resources>();
    for (const { node, resources } of record.placement ?? []) shares.set(node, plus(shares.get(node) ?? {}, resources));
    return shares;
  }

  #book(record: OrderRecord): void {
    for (const [node, resources] of this.#shares(record)) this.#nodes.book(node, record.order.id, resources);
  }

  #unbook(record: OrderRecord): void {
    const id = record.order.id;
    for (const node of this.#shares(record).keys()) {
      this.#nodes.unbook(node, id);
      if (node !== record.placement?.[0]?.node)
        this.#nodes
          .get(node)
          ?.link.call('release', { attempt: id })
          .catch(() => {});
    }
  }

  #placeSoon(): void {
    if (this.#placing) return;
    this.#placing = true;
    setImmediate(() => {
      this.#placing = false;
      if (!this.#closed) this.placeWaiting();
    });
  }

  /** Room for the whole gang is kept on every node before its entrypoint is started on the first. */
  async #send(attempt: Tracked): Promise<void> {
    const { record } = attempt;
    const { order, placement = [] } = record;
    const shares = this.#shares(record);
    const home = this.#home(attempt) ?? '';
    const replaced = (): boolean => this.#closed || attempt.record !== record || attempt.report.state === 'ended';
    for (const [node, resources] of shares) {
      if (node === home) continue;
      const refused = await this.#keep(node, order.id, resources);
      if (replaced()) return this.#releaseStray(node, attempt);
      if (refused) return this.#takeBack(attempt);
    }
    if (attempt.stop) return this.#finish(attempt, 'stopped', 'stopped before it started');
    const gang = placement.map(({ node, resources }) => ({ node: nodeId(node), resources }));
    const resources = shares.get(home) ?? {};
    try {
      const link = this.#link(home);
      attempt.sent = true;
      const answer = await link.call('start', { order, resources, ...(order.gang ? { gang } : {}) });
      if (replaced()) return;
      if (answer.elsewhere !== undefined) this.#follow(attempt, answer.elsewhere);
      else if (answer.refused !== undefined) this.#takeBack(attempt);
    } catch (error) {
      // A silent agent greets again, or is lost: both say what to do with the attempt.
      if (embeddedErrors.AgentRefused.is(error) && !replaced())
        await this.#finish(attempt, 'start-failed', error.message);
    }
  }

  /** True when the node did not, or cannot, keep the room: then the gang is placed again. */
  async #keep(node: string, attempt: string, resources: Resources): Promise<boolean> {
    try {
      return (await this.#link(node).call('keep', { attempt, resources })).refused !== undefined;
    } catch {
      return true;
    }
  }

  /** The attempt was placed again while `node` was asked: what it has kept for the old placement is not needed. */
  #releaseStray(node: string, attempt: Tracked): void {
    if (this.#isKeeper(node, attempt)) return;
    const release = { attempt: attempt.record.order.id };
    this.#nodes
      .get(node)
      ?.link.call('release', release)
      .catch(() => {});
  }

  /** A bundle of it is to be kept on a node that is not its home. */
  #isKeeper(node: string, attempt: Tracked): boolean {
    return attempt.report.state !== 'ended' && this.#home(attempt) !== node && this.#shares(attempt.record).has(node);
  }

  #link(instance: string) {
    const node = this.#nodes.get(instance);
    if (!node) throw embeddedErrors.AgentSilent({ instance, call: 'start' });
    return node.link;
  }

  /** Another instance than the one it was placed on has it, whatever this head remembers. */
  #follow(attempt: Tracked, instance: string): void {
    const { order } = attempt.record;
    this.#unbook(attempt.record);
    attempt.record = { ...attempt.record, placement: [{ node: instance, resources: order.resources }] };
    attempt.sent = true;
    this.#files.writeOrder(attempt.record);
    const node = this.#nodes.get(instance);
    if (node && !node.dead) this.#book(attempt.record);
    else void this.#finish(attempt, 'node-lost');
  }

  /** It has not run: it waits for room again. */
  #takeBack(attempt: Tracked): void {
    if (this.#closed || attempt.report.state === 'ended') return;
    this.#unbook(attempt.record);
    const { placement: _, ...record } = attempt.record;
    attempt.record = record;
    attempt.sent = false;
    attempt.report = { id: record.order.id, state: 'waiting', logSize: 0 };
    this.#files.writeOrder(record);
    this.#tell(attempt);
    if (!attempt.stop) this.#queue.add(attempt);
    else void this.#finish(attempt, 'stopped', 'stopped before it started');
    attempt.notBefore = performance.now() + askAgainAfter;
    setTimeout(() => this.#placeSoon(), askAgainAfter + 1);
  }

  /** Brings agent and table to the same mind after any loss of either. */
  #meet(instance: string, hello: Hello): void {
    const link = this.#nodes.get(instance)?.link;
    const drop = (promise: Promise<unknown> | undefined): void => void promise?.catch(() => {});
    const held = new Set<string>();
    for (const { report } of hello.attempts) {
      held.add(report.id);
      const attempt = this.#attempts.get(report.id);
      if (attempt) {
        attempt.sent = true;
        this.#reported(report);
        if (report.state === 'ended') continue;
        if (this.#home(attempt) !== instance) this.#follow(attempt, instance);
        if (attempt.stop) drop(this.#askToStop(attempt));
        if (this.#isBroken(attempt)) this.#endBroken(attempt);
      } else if (report.state === 'ended') drop(link?.call('forget', { attempt: report.id }));
      else drop(link?.call('stop', { attempt: report.id, grace: 0 }));
    }
    for (const { attempt } of hello.kept) {
      const known = this.#attempts.get(attempt);
      if (!known || !this.#isKeeper(instance, known)) drop(link?.call('release', { attempt }));
    }
    for (const attempt of this.#attempts.values()) {
      if (this.#home(attempt) !== instance || attempt.report.state === 'ended' || held.has(attempt.record.order.id))
        continue;
      // The agent knows everything that it ever took: this one has not run.
      attempt.sent = false;
      void this.#send(attempt);
    }
  }

  async #askToStop(attempt: Tracked): Promise<void> {
    const home = this.#home(attempt) ?? '';
    await this.#link(home).call('stop', { attempt: attempt.record.order.id, grace: attempt.stop?.grace ?? 0 });
  }

  #reported(report: AttemptReport): void {
    const attempt = this.#attempts.get(report.id);
    if (!attempt || attempt.report.state === 'ended') return;
    attempt.report = report;
    if (report.state === 'ended') this.#unbook(attempt.record);
    this.#tell(attempt);
  }

  #sized(sizes: Readonly<Record<string, number>>): void {
    for (const [id, logSize] of Object.entries(sizes)) {
      const attempt = this.#attempts.get(id);
      if (attempt && attempt.report.state !== 'ended') attempt.report = { ...attempt.report, logSize };
    }
  }

  #lost(instance: string, preempted: boolean): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.report.state === 'ended' || !this.#shares(attempt.record).has(instance)) continue;
      if (!attempt.sent) this.#takeBack(attempt);
      else if (this.#home(attempt) !== instance) this.#endBroken(attempt);
      else void this.#finish(attempt, preempted ? 'preempted' : 'node-lost');
    }
  }

  /** A node of its gang is no more. */
  #isBroken(attempt: Tracked): boolean {
    return [...this.#shares(attempt.record).keys()].some((node) => this.#nodes.get(node)?.dead);
  }

  /** The entrypoint lives, on another node than the one that was lost; without its whole gang it has no room to run in. */
  #endBroken(attempt: Tracked): void {
    const stop = { attempt: attempt.record.order.id, grace: 1_000, as: 'node-lost' } as const;
    const home = this.#nodes.get(this.#home(attempt) ?? '');
    // A home that cannot be asked now is asked when it greets.
    home?.link.call('stop', stop).catch(() => {});
  }

  /** Ends an attempt that no agent will end. What its agent had written down before it died stays the truth. */
  async #finish(attempt: Tracked, cause: EndCause, message?: string): Promise<void> {
    const { order } = attempt.record;
    const { node, startedAt } = attempt.report;
    const log = await endLog(order.log).catch(() => ({ size: attempt.report.logSize }));
    // What this head let go of is for the next one to end.
    if (this.#closed) return;
    let end = this.#files.end(order.id);
    if (!end) {
      const started = startedAt === undefined ? {} : { startedAt };
      end = {
        cause,
        ...(message !== undefined && { message }),
        ...started,
        endedAt: this.#clock.now(),
        logSize: log.size,
      };
      this.#files.writeEnd(order.id, end);
    }
    this.#reported({ id: order.id, state: 'ended', ...(node === undefined ? {} : { node }), ...end });
  }

  #tell(attempt: Tracked): void {
    for (const listener of this.#listeners) listener(attempt.report);
  }
}

const isWaiting = (attempt: Tracked): boolean =>
  attempt.report.state === 'waiting' && attempt.record.placement === undefined;
