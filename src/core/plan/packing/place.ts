import type { GangDemand, StandingDemand } from '../../demand.ts';
import { clusterRoom, typeRoom } from '../limits.ts';
import type { Pass } from '../pass.ts';
import type { ShapeRun } from '../shape.ts';
import { demand, type State, standing, type TypeInfo } from '../state.ts';
import { type Bin, isExempt, type LaunchCause } from './bin.ts';
import { type Packed, type PackingSpace, type PoolType, pack } from './pack.ts';

/** Demand for which this pass found no place. */
export interface Unplaced {
  readonly tasks: readonly ShapeRun[];
  readonly gangs: readonly { readonly gang: GangDemand; readonly runs: readonly ShapeRun[] }[];
  readonly standing: readonly { readonly standing: StandingDemand; readonly runs: readonly ShapeRun[] }[];
}

/** Finds a place for everything that is asked for: standing requests, then gangs, then tasks. */
export function placeDemand(pass: Pass): Unplaced {
  const unmet: Unplaced['standing'][number][] = [];
  for (const one of pass.standing) {
    const packed = pack(pass, longestIdleFirst(pass, spaceOf(pass)), one.runs, standing);
    if (packed.left.some((left) => left > 0)) unmet.push(one);
    else settle(pass, packed, { kind: 'standing' });
  }
  const waiting: Unplaced['gangs'][number][] = [];
  for (const one of pass.gangs) {
    const packed = pack(pass, spaceOf(pass), one.runs, demand);
    if (packed.left.some((left) => left > 0)) waiting.push(one);
    else settle(pass, packed, { kind: 'gang', gang: one.gang.id });
  }
  const packed = pack(pass, spaceOf(pass), pass.tasks, demand);
  settle(pass, packed, { kind: 'tasks' });
  const tasks = pass.tasks
    .map(({ shape }, at) => ({ shape, count: packed.left[at] as number }))
    .filter(({ count }) => count > 0);
  return { tasks, gangs: waiting, standing: unmet };
}

function spaceOf(pass: Pass): PackingSpace {
  const asRay = pass.policy.like === 'ray';
  const pool = pass.types
    .filter((type) => asRay || pass.offers.get(type)?.offer !== undefined)
    .map((type) => poolType(pass, type, typeRoom(pass, type)))
    .filter(({ room }) => room > 0);
  // Ray places demand even on nodes that it is about to end.
  const bins = asRay ? pass.bins : pass.bins.filter((bin) => bin.fate !== 'end');
  return { bins, pool, room: clusterRoom(pass) };
}

/**
 * The same space with idle nodes the other way round. A standing request lies on those that have been idle longest, so
 * that those at work last, the likeliest to be used next, stay for the whole of their timeout.
 */
function longestIdleFirst(pass: Pass, space: PackingSpace): PackingSpace {
  if (pass.policy.like === 'ray') return space;
  const idleFor = ({ state, instance }: Bin): number => (state.running ? (instance?.node?.idleFor ?? 0) : 0);
  const busy = space.bins.filter((bin) => idleFor(bin) === 0);
  const idle = space.bins.filter((bin) => idleFor(bin) > 0).sort((a, b) => idleFor(b) - idleFor(a));
  return { ...space, bins: [...busy, ...idle] };
}

const poolType = (pass: Pass, type: TypeInfo, room: number): PoolType => ({
  type,
  fresh: pass.fresh.get(type) as State,
  later: pass.freshLater.get(type) as State,
  room,
  price: pass.compared.get(type)?.price,
});

/** Makes a packing part of the pass. */
function settle(pass: Pass, packed: Packed, cause: Pick<LaunchCause, 'kind' | 'gang'>): void {
  const launches = packed.purchases.flatMap((purchase) => {
    const bins: Bin[] = [];
    for (let unit = 0; unit < purchase.units; unit++)
      for (const [host, state] of purchase.hosts.entries())
        bins.push({
          state,
          fate: 'launch',
          launch: { ...cause, served: host === 0 ? purchase.placed : [], slice: unit },
        });
    return bins;
  });
  if (packed.order !== undefined) {
    const picked = packed.picks.map(({ bin, to }) => ({ ...bin, state: to, shared: false }));
    pass.bins = [...picked, ...packed.order, ...launches];
    return;
  }
  for (const { bin, to } of packed.picks) bin.state = to;
  if (launches.length > 0) pass.bins = [...pass.bins, ...launches];
}

/** Whether demand could ever find a place: in an empty cluster at its limits, or on whole nodes as they stand now. */
export function couldHold(pass: Pass, runs: readonly ShapeRun[]): boolean {
  const pool = pass.types
    .filter(({ spec }) => (spec?.maxWorkers ?? 0) > 0)
    .map((type) => poolType(pass, type, type.spec?.maxWorkers ?? 0));
  const empty: PackingSpace = {
    bins: pass.bins.filter(isExempt),
    pool,
    room: pass.spec.maxWorkers ?? Number.POSITIVE_INFINITY,
  };
  const holds = (space: PackingSpace): boolean => pack(pass, space, runs, standing).left.every((left) => left === 0);
  return holds(empty) || holds({ ...spaceOf(pass), bins: pass.bins.filter(({ fate }) => fate === 'keep') });
}
