import type { Duration } from '../../../base/time/clock.ts';
import { amountOf } from '../../../core/resources.ts';
import type { EngineNode, EngineState } from '../../engine.ts';

interface Idle {
  /** On a clock that nobody sets, as all of these. */
  readonly since: number;
  /** Since when by Ray's own count, when it began. */
  readonly told: number;
  readonly seenAt: number;
}

/** Nodes hear of an end, and tell of what it did to them, within this time. */
const spreads: Duration = 2_000;
/** By how much a count seems to begin later, because it took its time to get here. */
const jitter: Duration = 500;

/**
 * Ray restarts the idle time of every node when any node ends: of nodes that become idle one after the other each would
 * wait for the whole timeout once more. Where nothing is in use on a node, and its count began again with the end of another,
 * the count from before goes on.
 *
 * Ray counts from when a node's processes start, seconds before any work can reach it: a short timeout would be over by then,
 * and what is handed to a node that drains hangs. A node that comes counts from when it is first seen.
 */
export class IdleClocks {
  readonly #idle = new Map<string, Idle>();
  /** When nodes came that were not there at the first look. */
  readonly #cameAt = new Map<string, number>();
  #there: ReadonlySet<string> | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;

  /** The state with idle times that go on. `now` is of a clock that nobody sets. */
  read(state: EngineState, now: number): EngineState {
    const there = new Set(state.nodes.filter((node) => node.state !== 'dead').map(({ id }) => id));
    const before = this.#there ?? there;
    for (const id of there) if (!before.has(id)) this.#cameAt.set(id, now);
    for (const id of before) if (!there.has(id)) this.#lastEnd = now;
    this.#there = there;
    for (const times of [this.#idle, this.#cameAt]) for (const id of times.keys()) if (!there.has(id)) times.delete(id);
    return { ...state, nodes: state.nodes.map((node) => ({ ...node, idleFor: this.#idleFor(node, now) })) };
  }

  #idleFor(node: EngineNode, now: number): Duration {
    const before = this.#idle.get(node.id);
    if (node.state === 'dead' || isUsed(node)) {
      this.#idle.delete(node.id);
      return node.idleFor;
    }
    // At the very moment at which it begins again.
    if (node.idleFor === 0) {
      if (before && now - before.seenAt > spreads) this.#idle.delete(node.id);
      return 0;
    }
    const told = Math.max(now - node.idleFor, this.#cameAt.get(node.id) ?? Number.NEGATIVE_INFINITY);
    const isAnew = before === undefined || told - before.told > jitter;
    const goesOn = before !== undefined && (!isAnew || Math.abs(told - this.#lastEnd) <= spreads);
    const since = goesOn ? Math.min(told, before.since) : told;
    this.#idle.set(node.id, { since, told: isAnew ? told : before.told, seenAt: now });
    return Math.max(1, now - since);
  }
}

const isUsed = ({ total, available }: EngineNode): boolean =>
  Object.entries(total).some(([name, amount]) => name !== 'object_store_memory' && amountOf(available, name) < amount);
