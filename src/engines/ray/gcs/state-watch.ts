import { ownValue } from '../../../base/own-value.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import type { Resources } from '../../../core/resources.ts';
import type { EngineState } from '../../engine.ts';

export interface StateWatchOptions {
  readonly read: (signal: AbortSignal) => Promise<EngineState>;
  /** Attempts are under way, or somebody waits for changes: look often. */
  readonly busy: () => boolean;
  readonly clock: Clock;
}

const busyPeriod = 250;
const quietPeriod = 1_000;
const longestPeriod = 5_000;
const staleAfter = 15_000;
/** Looking takes at most this share of a core, however large the cluster. */
const share = 0.01;
/** To fetch and read a state costs about this many times what it costs to compare it; measured with 1,000 nodes. */
const readingCost = 5;

/** Keeps the newest state, and tells when something in it changed that a decision could depend on. */
export class StateWatch {
  readonly #options: StateWatchOptions;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #latest: EngineState | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #digest = '';
  #cost: Duration = 0;

  constructor(options: StateWatchOptions) {
    this.#options = options;
    this.#clock = steadyClock(options.clock);
    void this.#follow();
  }

  /** Undefined when none was read of late: nothing is known then. */
  get latest(): EngineState | undefined {
    return this.#clock.now() - this.#readAt > staleAfter ? undefined : this.#latest;
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A state that another caller has read. */
  learn(state: EngineState): void {
    this.#latest = state;
    this.#readAt = this.#clock.now();
    const digest = this.#compared(state);
    if (digest === this.#digest) return;
    this.#digest = digest;
    for (const listener of this.#listeners) listener();
  }

  close(): void {
    this.#closing.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const base = this.#options.busy() || this.#listeners.size > 0 ? busyPeriod : quietPeriod;
      const period = Math.min(longestPeriod, Math.max(base, this.#cost / share));
      await this.#clock.sleep(period, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        this.learn(await this.#options.read(signal));
      } catch {
        // The next decision asks for itself, and is told.
      }
    }
  }

  /** Its digest. What that costs tells what looking costs, whatever else this process does while a state is fetched. */
  #compared(state: EngineState): string {
    const before = process.threadCpuUsage();
    const digest = digestOf(state);
    const { user, system } = process.threadCpuUsage(before);
    // One slow moment does not slow the watch down for long.
    this.#cost = Math.min(((user + system) / 1_000) * readingCost, this.#cost * 2 + 1);
    return digest;
  }
}

/** Without what changes by itself: the instant, how long nodes have been idle, and the order of names, which Ray shuffles. */
function digestOf({ nodes, demand }: EngineState): string {
  const lines = nodes.map(
    ({ id, state, available, total, idleFor }) =>
      `${id} ${state} ${idleFor > 0} ${amounts(available)} ${amounts(total)}`,
  );
  return `${lines.join('\n')}\n${JSON.stringify(demand, byName)}`;
}

/** By hand: a thousand nodes through `JSON.stringify` with a function cost more than all other looking at them. */
const amounts = (resources: Resources): string =>
  Object.keys(resources)
    .sort()
    .map((name) => `${name}=${ownValue(resources, name)}`)
    .join();

const byName = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
