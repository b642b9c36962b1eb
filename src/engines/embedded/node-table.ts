import type { Duration } from '../../base/time/clock.ts';
import { minus, plus } from '../../core/placement/booking.ts';
import type { Room } from '../../core/placement/room.ts';
import type { Labels, Resources } from '../../core/resources.ts';
import type { AttemptReport } from '../runner.ts';
import type { LinkOptions } from './node-link.ts';
import { NodeLink } from './node-link.ts';
import type { AgentRecord, DrainReason, Hello } from './protocol.ts';

/** What the table of attempts hears about nodes. */
export interface NodeEvents {
  readonly hello: (instance: string, hello: Hello) => void;
  readonly report: (report: AttemptReport) => void;
  readonly sizes: (sizes: Readonly<Record<string, number>>) => void;
  /** Nothing of it runs any more. */
  readonly lost: (instance: string, preempted: boolean) => void;
}

/** How many nodes that are no more are still shown. */
const shownDead = 50;

/** One node as the engine knows it. */
export class EmbeddedNode {
  readonly instance: string;
  readonly id: string;
  readonly link: NodeLink;
  type = '';
  head = false;
  total: Resources = {};
  labels: Labels = {};
  draining: DrainReason | undefined;
  /** The agent has answered at least once. */
  met = false;
  dead = false;
  readonly #bookings: ReadonlyMap<string, Resources>;
  #idleSince = performance.now();

  constructor(link: NodeLink, bookings: ReadonlyMap<string, Resources>) {
    this.link = link;
    this.instance = link.record.instance;
    this.id = link.record.node;
    this.#bookings = bookings;
  }

  get state(): 'alive' | 'draining' | 'dead' {
    return this.dead ? 'dead' : this.draining ? 'draining' : 'alive';
  }

  get available(): Resources {
    return this.dead ? {} : minus(this.total, plus(...this.#bookings.values()));
  }

  get idleFor(): Duration {
    return this.#bookings.size > 0 || this.dead ? 0 : performance.now() - this.#idleSince;
  }

  noteIdle(since = performance.now()): void {
    this.#idleSince = since;
  }
}

/** The nodes of the engine, what is booked on them, and the links to their agents. */
export class NodeTable {
  readonly #options: LinkOptions;
  readonly #nodes = new Map<string, EmbeddedNode>();
  /** By instance, then attempt. Kept apart from nodes: bookings are known from disk before their agents answer. */
  readonly #bookings = new Map<string, Map<string, Resources>>();
  readonly #listeners = new Set<() => void>();
  #events: NodeEvents | undefined;
  #rooms: readonly Room[] | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  connect(events: NodeEvents): void {
    this.#events = events;
  }

  watch(listener: () => void): void {
    this.#listeners.add(listener);
  }

  has(instance: string): boolean {
    return this.#nodes.has(instance);
  }

  get(instance: string): EmbeddedNode | undefined {
    return this.#nodes.get(instance);
  }

  /** Nodes that have answered, those that died lately included. */
  all(): EmbeddedNode[] {
    return [...this.#nodes.values()].filter((node) => node.met);
  }

  /** Links to agents that have neither answered nor been found dead. */
  unknown(): NodeLink[] {
    return [...this.#nodes.values()].filter((node) => !node.met && !node.dead).map((node) => node.link);
  }

  /** Nodes that take work now. */
  rooms(): readonly Room[] {
    this.#rooms ??= this.all()
      .filter((node) => node.state === 'alive' && node.link.connected)
      .map((node) => ({
        id: node.instance,
        head: node.head,
        total: node.total,
        available: node.available,
        labels: node.labels,
      }));
    return this.#rooms;
  }

  /** An agent has signed in. `gone` removes its record once it is no more. */
  add(record: AgentRecord, gone: () => void): void {
    const { instance } = record;
    const events = {
      hello: (hello: Hello) => this.#hello(node, hello),
      report: (report: AttemptReport) => this.#events?.report(report),
      sizes: (sizes: Readonly<Record<string, number>>) => this.#events?.sizes(sizes),
      disconnected: () => this.#changed(),
      lost: () => {
        gone();
        this.#lost(node);
      },
    };
    const node = new EmbeddedNode(new NodeLink(record, events, this.#options), this.#bookingsOf(instance));
    this.#nodes.set(instance, node);
  }

  book(instance: string, attempt: string, resources: Resources): void {
    this.#bookingsOf(instance).set(attempt, resources);
    this.#changed();
  }

  unbook(instance: string, attempt: string): void {
    const bookings = this.#bookingsOf(instance);
    if (!bookings.delete(attempt)) return;
    if (bookings.size === 0) this.#nodes.get(instance)?.noteIdle();
    this.#changed();
  }

  async drain(id: string, reason: DrainReason): Promise<{ readonly accepted: boolean; readonly reason?: string }> {
    const node = [...this.#nodes.values()].find((each) => each.id === id);
    if (!node || node.dead) return { accepted: true };
    if (reason.kind === 'idle' && this.#bookingsOf(node.instance).size > 0)
      return { accepted: false, reason: 'the node has work' };
    // Nothing is placed on it while the agent is asked.
    const before = node.draining;
    node.draining = before?.kind === 'preemption' ? before : reason;
    this.#changed();
    try {
      const answer = await node.link.call('drain', { reason });
      if (!answer.accepted) node.draining = before;
      return answer;
    } catch (error) {
      node.draining = before;
      if (node.dead) return { accepted: true };
      throw error;
    } finally {
      this.#changed();
    }
  }

  close(): void {
    for (const node of this.#nodes.values()) node.link.close();
  }

  #bookingsOf(instance: string): Map<string, Resources> {
    const known = this.#bookings.get(instance) ?? new Map<string, Resources>();
    this.#bookings.set(instance, known);
    return known;
  }

  #hello(node: EmbeddedNode, hello: Hello): void {
    Object.assign(node, { type: hello.type, head: hello.head, total: hello.total, labels: hello.labels, met: true });
    node.draining = hello.draining;
    node.noteIdle(performance.now() - hello.idleFor);
    this.#changed();
    this.#events?.hello(node.instance, hello);
  }

  #lost(node: EmbeddedNode): void {
    node.dead = true;
    this.#bookings.delete(node.instance);
    const dead = [...this.#nodes.values()].filter((each) => each.dead);
    for (const old of dead.slice(0, Math.max(0, dead.length - shownDead))) this.#nodes.delete(old.instance);
    this.#events?.lost(node.instance, node.draining?.kind === 'preemption');
    this.#changed();
  }

  #changed(): void {
    this.#rooms = undefined;
    for (const listener of this.#listeners) listener();
  }
}
