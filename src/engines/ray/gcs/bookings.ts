import type { TaskDemand } from '../../../core/demand.ts';
import { asksForNothing, minus, plus } from '../../../core/placement/booking.ts';
import { matchesLabels, readLabelRule } from '../../../core/placement/labels.ts';
import { place } from '../../../core/placement/placement.ts';
import type { Placement } from '../../../core/placement/room.ts';
import { type NamedSlice, sliceOfNode } from '../../../core/placement/slices.ts';
import { amountOf, type Labels, type Resources } from '../../../core/resources.ts';
import type { EngineNode, EngineState } from '../../engine.ts';
import type { AttemptOrder } from '../../runner.ts';
import { withHeld } from '../jobs/gang-slices.ts';

type Asked = Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>;

interface Booking {
  readonly asked: Asked;
  /** Where it should go; undefined when there was no room for it. */
  placement?: Placement | undefined;
  /** By node, what must be left there once Ray shows the attempt. */
  expected: Map<string, Resources>;
  /** Until then the state may not show it. */
  until: number;
  /** Ray has shown what it asks for as waiting. */
  demandSeen?: boolean;
  /** It is on its way to Ray: no state can show it yet. */
  held: boolean;
}

/** The state is this much behind what was handed over: reports of the nodes, and the pull of the GCS. */
const lag = 3_000;

/** What was handed over and is not in the state yet: the room that is left, and the view, count it. */
export class Bookings {
  readonly #open = new Map<string, Booking>();

  /** Keeps room for an attempt while what it needs is on its way to Ray, until it is added or dropped. */
  hold(id: string, asked: Asked, state: EngineState | undefined, now: number): void {
    this.#book(id, { asked: withoutGang(asked), expected: new Map(), until: now, held: true }, state, now);
  }

  /** An attempt is being handed over. */
  add(id: string, asked: Asked, state: EngineState | undefined, now: number): void {
    this.#book(id, { asked: withoutGang(asked), expected: new Map(), until: now + lag, held: false }, state, now);
  }

  #book(id: string, booking: Booking, state: EngineState | undefined, now: number): void {
    // What it held so far is its own to take.
    this.#open.delete(id);
    const nodes = this.rooms(state, now);
    this.#settle(booking, placeOn(booking.asked, nodes), nodes);
    this.#open.set(id, booking);
  }

  /** It runs on this node, which the state may not tell yet. */
  placed(id: string, node: string, state: EngineState | undefined, now: number): void {
    const booking = this.#open.get(id);
    if (!booking || (!booking.held && booking.placement?.[0]?.node === node)) return;
    booking.held = false;
    booking.until = now + lag / 3;
    this.#settle(booking, [{ node, resources: booking.asked.resources }], aliveNodes(state));
  }

  drop(id: string): void {
    this.#open.delete(id);
  }

  /** `held`: slices that jobs have for themselves. */
  hasRoom(asked: Asked, state: EngineState | undefined, now: number, held: ReadonlySet<string> = new Set()): boolean {
    return placeOn(asked, withHeld(this.rooms(state, now), held)) !== undefined;
  }

  /** The slices that a job across slices gets, the one of its entrypoint first. */
  slicesFor(
    asked: Asked,
    state: EngineState | undefined,
    now: number,
    held: ReadonlySet<string>,
  ): readonly NamedSlice[] | undefined {
    const nodes = withHeld(this.rooms(state, now), held);
    return placeOn(asked, nodes)?.flatMap(({ node }) => sliceOfNode(nodes.find(({ id }) => id === node)!) ?? []);
  }

  /** The nodes with what is left on them for others. */
  rooms(state: EngineState | undefined, now: number): EngineNode[] {
    const nodes = aliveNodes(state);
    for (const booking of this.#open.values()) {
      const parts = booking.placement && !booking.held ? this.#unshown(booking, state, now) : heldParts(booking, nodes);
      for (const { node, resources } of parts ?? []) take(nodes, node, resources);
    }
    return nodes;
  }

  /**
   * The state with what it does not show yet. What has found room is taken from its node, which is not idle; what has not
   * is demand, until Ray tells so itself.
   */
  seenIn(state: EngineState, now: number): EngineState {
    if (this.#open.size === 0) return state;
    const nodes = [...state.nodes];
    const waiting: TaskDemand[] = [];
    for (const booking of this.#open.values()) {
      const held = booking.held ? heldParts(booking, nodes) : undefined;
      for (const { node, resources } of held ?? this.#unshown(booking, state, now)) take(nodes, node, resources);
      if (booking.held) {
        if (!held) waiting.push(demandOf(booking.asked));
        continue;
      }
      if (booking.placement || booking.demandSeen || now > booking.until) continue;
      booking.demandSeen = state.demand.tasks.some(({ request }) =>
        sameAmounts(request.resources, booking.asked.resources),
      );
      if (!booking.demandSeen) waiting.push(demandOf(booking.asked));
    }
    return { ...state, nodes, demand: { ...state.demand, tasks: [...state.demand.tasks, ...waiting] } };
  }

  #settle(booking: Booking, placement: Placement | undefined, nodes: readonly EngineNode[]): void {
    booking.placement = placement;
    booking.expected = new Map();
    for (const { node, resources } of placement ?? []) {
      const before = booking.expected.get(node) ?? nodes.find((each) => each.id === node)?.available ?? {};
      booking.expected.set(node, minus(before, resources));
    }
  }

  /** Parts of a placement that the state does not show: on those nodes there is still as much as before. */
  #unshown(booking: Booking, state: EngineState | undefined, now: number): Placement {
    if (!booking.placement || booking.held || now > booking.until) return [];
    return booking.placement.filter(({ node, resources }) => {
      const available = state?.nodes.find((each) => each.id === node)?.available ?? {};
      const expected = booking.expected.get(node) ?? {};
      return Object.keys(resources).some((name) => amountOf(available, name) > amountOf(expected, name));
    });
  }
}

/** Where it was to go while there is room there, else where there is room now. */
function heldParts({ asked, placement }: Booking, nodes: readonly EngineNode[]): Placement | undefined {
  const alive = nodes.filter(({ state }) => state === 'alive');
  const stands = placement?.every(({ node, resources }) => {
    const there = alive.find(({ id }) => id === node);
    return there && Object.entries(resources).every(([name, amount]) => amountOf(there.available, name) >= amount);
  });
  return stands ? placement : placeOn(asked, alive);
}

/** Ray's jobs know no gangs: only the first bundle is ever taken by one. */
const withoutGang = ({ gang, resources, labels }: Asked): Asked => ({
  resources: plus(gang?.bundles[0] ?? {}, resources),
  labels,
});

function placeOn(asked: Asked, nodes: readonly EngineNode[]): Placement | undefined {
  const labelled = Object.keys(asked.labels).length > 0;
  if (!asked.gang && labelled && asksForNothing(asked.resources)) {
    // Unlike work that asks for nothing at all, Ray does not keep it on the head.
    const node = nodes.find((each) => matchesLabels(asked.labels, each.labels));
    return node && [{ node: node.id, resources: {} }];
  }
  return place(asked, nodes);
}

const aliveNodes = (state: EngineState | undefined): EngineNode[] =>
  (state?.nodes ?? []).filter((node) => node.state === 'alive');

function take(nodes: EngineNode[], id: string, resources: Resources): void {
  const at = nodes.findIndex((node) => node.id === id);
  const node = nodes[at];
  if (node) nodes[at] = { ...node, available: minus(node.available, resources), idleFor: 0 };
}

function sameAmounts(a: Resources, b: Resources): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => amountOf(a, name) === amountOf(b, name));
}

function demandOf({ resources, labels }: { resources: Resources; labels: Labels }): TaskDemand {
  const selector = Object.entries(labels).map(([label, value]) => readLabelRule(label, value));
  return { request: { resources, selectors: selector.length === 0 ? [] : [selector], placement: [] }, count: 1 };
}
