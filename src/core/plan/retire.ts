import { ownValue } from '../../base/own-value.ts';
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { InstanceView } from '../instance.ts';
import { isPending } from '../lifecycle.ts';
import { amountOf } from '../resources.ts';
import { end, mayEnd, typeFloor } from './limits.ts';
import { addedPrice } from './offers.ts';
import { type Bin, isExempt } from './packing/bin.ts';
import type { Pass } from './pass.ts';
import type { PlanFact } from './plan.ts';
import type { TypeInfo } from './state.ts';

/**
 * How long a pending instance that nothing needs is kept, where the spec does not say: longer once its setup has begun
 * and most of the way to a node is paid for.
 */
const pendingGrace: Duration = 30_000;
const setUpGrace: Duration = 45_000;

const isNeeded = ({ state }: Bin): boolean => state.load[0].any || state.load[1].any;

type IdleLimit = Omit<Extract<NonNullable<Bin['end']>, { kind: 'idle' }>, 'kind' | 'idleFor'>;

/**
 * How long a node may be idle. Where the spec says `economic` and the price is known, no longer than a new one takes to start,
 * which is paid for too: waiting longer costs more than coming back. Whatever follows, that is at most twice what knowing it
 * would have cost.
 */
function idleLimit(pass: Pass, bin: Bin): IdleLimit | undefined {
  const { state, instance } = bin;
  const asRay = pass.policy.like === 'ray';
  if (asRay && instance !== undefined && isPending(instance.status) && instance.status !== 'requested') {
    const { pendingIdleTimeout: timeout } = pass.spec;
    return timeout === undefined ? undefined : { timeout };
  }
  const timeout = state.type.spec?.idleTimeout ?? pass.spec.idleTimeout;
  if (timeout === undefined) return undefined;
  const start = !asRay && pass.spec.idle === 'economic' && price(bin) > 0 ? startTime(pass, state.type) : undefined;
  return start === undefined || start >= timeout ? { timeout } : { timeout: start, economic: true };
}

/** How many of the newest nodes say how long a new one takes. */
const startsLooked = 15;

/** How long nodes of a type took from their launch until they ran, of late: the median. */
function startTime({ view }: Pass, { name }: TypeInfo): Duration | undefined {
  const starts = view.instances
    .filter(({ type, status, byHand }) => type === name && status === 'running' && byHand !== true)
    .toSorted((a, b) => b.since - a.since)
    .slice(0, startsLooked)
    .map(({ requestedAt, since }) => Math.max(0, since - requestedAt))
    .toSorted((a, b) => a - b);
  return starts[starts.length >> 1];
}

function idleFor(pass: Pass, { state, instance }: Bin): Duration {
  const idle = state.running ? (instance?.node?.idleFor ?? 0) : 0;
  return idle > 0 ? idle + Math.max(0, pass.now - pass.view.at) : idle;
}

/**
 * Ends what nothing has needed for long enough. The head and the floor of each type stay. `next` is when the next of them
 * is due; where nothing may be ended in this pass there is none, since it may be due already.
 */
export function endIdle(pass: Pass): { facts: PlanFact[]; next: Instant | undefined } {
  const counts = new Map<TypeInfo, number>();
  for (const { fate, state } of pass.bins) {
    // A node that is only to be launched does not stand in for one that runs; to Ray it does.
    if (fate === 'end' || (fate === 'launch' && pass.policy.like !== 'ray')) continue;
    counts.set(state.type, (counts.get(state.type) ?? 0) + 1);
  }
  const floors = new Map(pass.types.map((type) => [type, typeFloor(pass, type)]));
  const spare = (type: TypeInfo): number => (counts.get(type) ?? 0) - (floors.get(type) ?? 0);
  const retire = (unit: readonly Bin[], reason: (bin: Bin) => NonNullable<Bin['end']>): void => {
    for (const bin of unit) {
      counts.set(bin.state.type, (counts.get(bin.state.type) ?? 0) - 1);
      end(bin, reason(bin));
    }
  };
  const pending = pass.policy.like === 'ray' ? { facts: [], next: undefined } : endUnneeded(pass, spare, retire);
  let next = pending.next;
  for (const unit of inEndingOrder(pass)) {
    const first = unit[0] as Bin;
    const limit = idleLimit(pass, first);
    if (limit === undefined || unit.some(isNeeded)) continue;
    const { timeout } = limit;
    const idle = Math.min(...unit.map((bin) => idleFor(pass, bin)));
    if (spare(first.state.type) < unit.length) continue;
    if (!mayEnd(pass)) continue;
    if (idle > timeout) retire(unit, (bin) => ({ kind: 'idle', idleFor: idleFor(pass, bin), ...limit }));
    else if (idle > 0) next = earliest(next, pass.now + Math.max(1, timeout - idle + 1));
  }
  return { facts: pending.facts, next };
}

const earliest = (a: Instant | undefined, b: Instant): Instant => (a === undefined ? b : Math.min(a, b));

/**
 * Workers that may go, by unit, in the order in which they go: Ray takes the longest idle first; Manta the dearest,
 * then the longest idle.
 */
function inEndingOrder(pass: Pass): Bin[][] {
  const asRay = pass.policy.like === 'ray';
  const workers = pass.bins.filter((bin) => bin.fate === 'keep' && !isExempt(bin) && (asRay || bin.state.running));
  const units = asRay
    ? workers.map((bin) => [bin])
    : bySlice(workers).filter((unit) => unit.every((bin) => idleFor(pass, bin) > 0));
  const keyed = units.map((unit) => {
    const first = unit[0] as Bin;
    const hasNode = first.state.running && first.instance?.node?.id !== '';
    return {
      unit,
      hasNode: hasNode ? 1 : 0,
      idle: idleFor(pass, first),
      used: used(first),
      price: asRay ? 0 : price(first),
    };
  });
  keyed.sort((a, b) => a.hasNode - b.hasNode || b.price - a.price || b.idle - a.idle || a.used - b.used);
  return keyed.map(({ unit }) => unit);
}

/** Hosts of one slice as one unit; a slice that is still incomplete is none. */
function bySlice(workers: readonly Bin[]): Bin[][] {
  const units: Bin[][] = [];
  const slices = new Map<string, Bin[]>();
  for (const bin of workers) {
    const slice = bin.instance?.slice;
    const known = slice === undefined ? undefined : slices.get(slice);
    if (known !== undefined) {
      known.push(bin);
      continue;
    }
    const unit = [bin];
    if (slice !== undefined) slices.set(slice, unit);
    units.push(unit);
  }
  return units.filter(
    (unit) => (unit[0] as Bin).instance?.slice === undefined || unit.length >= (unit[0] as Bin).state.type.hosts,
  );
}

function price({ state, instance }: Bin): number {
  const offer = state.type.spec?.offers.find(
    ({ zone, market }) => zone === instance?.zone && market === instance?.market,
  );
  return addedPrice(offer) ?? state.type.price ?? 0;
}

function used({ instance, state }: Bin): number {
  const node = state.running ? instance?.node : undefined;
  if (node === undefined) return 0;
  const parts = Object.entries(node.total)
    .filter(([, total]) => total > 0)
    .map(([name, total]) => (total - amountOf(node.available, name)) / total);
  return parts.length === 0 ? 0 : parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

/** Cancels pending instances that no demand has needed for a while; remembers since when. */
function endUnneeded(
  pass: Pass,
  spare: (type: TypeInfo) => number,
  retire: (unit: readonly Bin[], reason: (bin: Bin) => NonNullable<Bin['end']>) => void,
): { facts: PlanFact[]; next: Instant | undefined } {
  const facts: PlanFact[] = [];
  let next: Instant | undefined;
  const pending = pass.bins.filter((bin) => bin.fate === 'keep' && !bin.state.head && !bin.state.running);
  const kept = new Map<TypeInfo, number>();
  // The least far along stand last and go first.
  for (const unit of bySlice(pending).reverse()) {
    const first = unit[0] as Bin;
    const { type } = first.state;
    const spared = spare(type) - (kept.get(type) ?? 0);
    const unneeded = !unit.some(isNeeded) && spared >= unit.length;
    for (const { instance } of unit) {
      const { id } = instance as InstanceView;
      const since = ownValue(pass.view.memory.unneededSince, id);
      if (unneeded && since === undefined) facts.push({ kind: 'unneeded', instance: id, since: pass.now });
      if (!unneeded && since !== undefined) facts.push({ kind: 'needed-again', instance: id });
    }
    if (!unneeded) continue;
    const inSetUp = unit.some(({ instance }) => instance?.status === 'setting-up');
    const grace = pass.spec.pendingIdleTimeout ?? (inSetUp ? setUpGrace : pendingGrace);
    const since = Math.max(
      ...unit.map(
        ({ instance }) => ownValue(pass.view.memory.unneededSince, (instance as InstanceView).id) ?? pass.now,
      ),
    );
    if (pass.now - since >= grace && mayEnd(pass)) retire(unit, () => ({ kind: 'unneeded-pending', since }));
    else {
      kept.set(type, (kept.get(type) ?? 0) + unit.length);
      if (mayEnd(pass)) next = earliest(next, since + grace);
    }
  }
  return { facts, next };
}
