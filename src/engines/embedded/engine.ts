import type { FSWatcher } from 'node:fs';
import { realpathSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, namesIn, readJson, readLiveJson, writeJson } from '../../base/files/json-file.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { TaskDemand } from '../../core/demand.ts';
import { place } from '../../core/placement/placement.ts';
import type { InfeasibleDemand } from '../../core/plan/plan.ts';
import type { Engine, EngineNode, EngineState } from '../engine.ts';
import type { AttemptOrder, AttemptReport, Runner } from '../runner.ts';
import { AttemptTable } from './attempt-table.ts';
import { gangDemand, taskDemand } from './demand.ts';
import { embeddedEnvironments } from './environments.ts';
import { embeddedErrors } from './errors.ts';
import { engineNames } from './names.ts';
import type { LinkOptions } from './node-link.ts';
import { NodeTable } from './node-table.ts';
import type { AgentRecord, DrainReason } from './protocol.ts';

export interface EmbeddedEngineOptions extends Omit<LinkOptions, 'epoch'> {
  /** Shared with the agents: `agents/`, `attempts/`, `environments/`, `standing.json`. */
  readonly folder: string;
  readonly clock: Clock;
  /** How long `state` waits for agents that have not answered yet. @default 5 seconds */
  readonly syncWithin?: Duration;
}

const sweepEvery = 2_000;

/**
 * The engine of one machine. Everything that must outlive this process is in its folder and in the agents: an engine
 * opened again on the same folder finds agents and attempts again and goes on.
 */
export class EmbeddedEngine implements Engine, Runner {
  readonly environments = embeddedEnvironments;
  readonly #options: EmbeddedEngineOptions;
  readonly #folder: string;
  readonly #nodes: NodeTable;
  readonly #attempts: AttemptTable;
  readonly #changes = new Set<() => void>();
  readonly #watcher: FSWatcher;
  readonly #sweep: NodeJS.Timeout;
  #standing: readonly TaskDemand[];
  #infeasible: readonly InfeasibleDemand[] = [];

  private constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#folder = realpathSync(makeFolder(options.folder));
    this.#standing = readJson<readonly TaskDemand[]>(this.#standingFile) ?? [];
    this.#nodes = new NodeTable({ ...options, epoch: this.#nextEpoch() });
    this.#attempts = new AttemptTable(this.#folder, this.#nodes, options.clock);
    this.#nodes.watch(() => this.#changed());
    this.#attempts.watch(() => this.#changed());
    const agents = makeFolder(join(this.#folder, engineNames.agents));
    this.#watcher = watch(agents, () => this.#discover());
    // A notification can be missed; a folder cannot.
    this.#sweep = setInterval(() => this.#discover(), sweepEvery);
    this.#discover();
  }

  /** Takes over what is in the folder. Resolves when every agent there has answered or was found dead. */
  static async open(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
    const engine = new EmbeddedEngine(options);
    await engine.#synced().catch(() => {});
    await engine.#attempts.resolveStrays();
    return engine;
  }

  /** Lets go of the agents, which live on with their attempts until their leases expire. */
  close(): void {
    this.#watcher.close();
    clearInterval(this.#sweep);
    this.#attempts.close();
    this.#nodes.close();
  }

  async state(signal: AbortSignal): Promise<EngineState> {
    signal.throwIfAborted();
    await this.#synced();
    const waiting = this.#attempts.waiting();
    return {
      at: this.#options.clock.now(),
      nodes: this.#nodes.all().map(
        (node): EngineNode => ({
          id: node.id,
          providerId: node.instance,
          type: node.type,
          head: node.head,
          state: node.state,
          total: node.total,
          available: node.available,
          labels: node.labels,
          idleFor: node.idleFor,
        }),
      ),
      demand: {
        tasks: taskDemand(waiting),
        gangs: gangDemand(waiting),
        standing: this.#standing.length > 0 ? [{ requests: this.#standing }] : [],
      },
    };
  }

  async drain(
    node: string,
    reason: DrainReason,
    signal: AbortSignal,
  ): Promise<{ readonly accepted: boolean; readonly reason?: string }> {
    signal.throwIfAborted();
    return this.#nodes.drain(node, reason);
  }

  async reportInfeasible(infeasible: readonly InfeasibleDemand[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#infeasible = infeasible;
  }

  /** What was last reported as impossible. */
  get infeasible(): readonly InfeasibleDemand[] {
    return this.#infeasible;
  }

  /** Replaces the standing request; an empty one withdraws it. Unlike Ray's it survives a restart of the head. */
  async requestResources(requests: readonly TaskDemand[]): Promise<void> {
    writeJson(this.#standingFile, requests);
    this.#standing = requests;
    this.#changed();
  }

  hasRoom(order: Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>): boolean {
    this.#attempts.placeWaiting();
    return place(order, this.#nodes.rooms()) !== undefined;
  }

  async start(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const env = { PYTHONUNBUFFERED: '1', ...order.env, ...order.own };
    this.#attempts.take({ ...order, env });
  }

  async stop(attempt: string, grace: Duration, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#attempts.stop(attempt, grace);
  }

  async attempts(signal: AbortSignal): Promise<readonly AttemptReport[]> {
    signal.throwIfAborted();
    return this.#attempts.reports();
  }

  async forget(attempt: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#attempts.forget(attempt);
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    return this.#attempts.watch(listener);
  }

  /** Called after any change of nodes, attempts or standing requests: time to look at `state` again. */
  watchState(listener: () => void): () => void {
    this.#changes.add(listener);
    return () => this.#changes.delete(listener);
  }

  get #standingFile(): string {
    return join(this.#folder, engineNames.standing);
  }

  #nextEpoch(): number {
    const file = join(this.#folder, engineNames.epoch);
    const epoch = (readJson<number>(file) ?? 0) + 1;
    writeJson(file, epoch);
    return epoch;
  }

  #changed(): void {
    for (const listener of this.#changes) listener();
  }

  #discover(): void {
    const folder = join(this.#folder, engineNames.agents);
    for (const name of namesIn(folder)) {
      if (name.startsWith('.') || !name.endsWith('.json') || this.#nodes.has(name.slice(0, -5))) continue;
      const file = join(folder, name);
      const record = readLiveJson<AgentRecord>(file);
      if (record) this.#nodes.add(record, () => rmSync(file, { force: true }));
    }
  }

  async #synced(): Promise<void> {
    this.#discover();
    const unknown = this.#nodes.unknown();
    if (unknown.length === 0) return;
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const instances = this.#nodes.unknown().map((link) => link.record.instance);
      deadline.reject(embeddedErrors.NotSynced({ instances }));
    }, this.#options.syncWithin ?? 5_000);
    try {
      await Promise.race([Promise.all(unknown.map((link) => link.known)), deadline.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
