import type { Instant } from '../../../base/time/clock.ts';
import { clusterRoom, leavingWorkers, typeFloor, typeRoom } from '../limits.ts';
import type { Pass } from '../pass.ts';
import { whyNot } from '../passed.ts';
import type { InfeasibleDemand, Passed, Waiting } from '../plan.ts';
import type { Shape } from '../shape.ts';
import type { HeldBack } from '../speed.ts';
import { couldHold, type Unplaced } from './place.ts';

/** Turns what found no place into standing answers: never possible, or waiting, for what, and until when. */
export function explainUnplaced(
  pass: Pass,
  unplaced: Unplaced,
  held: HeldBack,
): { infeasible: InfeasibleDemand[]; waiting: Waiting[]; until: Instant | undefined } {
  const infeasible: InfeasibleDemand[] = [];
  const waiting: Waiting[] = [];
  let until: Instant | undefined;
  const holding = new Map(pass.types.map((type) => [type, holdsUp(pass, type)]));
  const passedBy = (shape: Shape): Passed[] =>
    pass.types.flatMap((type) => {
      const why = whyNot(type, shape, pass);
      return why === undefined ? (holding.get(type) ?? []) : [{ type: type.name, why }];
    });
  /** For demand that is too much even for an empty cluster: a type that holds one of its requests is held up by its limit. */
  const everPassedBy = (shape: Shape): Passed[] =>
    pass.types.map((type) => ({ type: type.name, why: whyNot(type, shape, pass) ?? limitOf(pass, type) }));
  const wait = (demand: Waiting['demand'], types: readonly Passed[]): void => {
    const ends = types
      .map(({ why }) => (why.kind === 'refused' ? why.refusal.until : undefined))
      .filter((at) => at !== undefined);
    const at = ends.length === 0 ? undefined : Math.min(...ends);
    if (at !== undefined) until = until === undefined ? at : Math.min(until, at);
    waiting.push({ demand, for: types, ...(at === undefined ? {} : { until: at }) });
  };
  for (const { shape, count } of unplaced.tasks) {
    const passed = passedBy(shape);
    const task = { kind: 'tasks', request: shape.request, count } as const;
    if (couldHold(pass, [{ shape, count: 1 }])) wait(task, passed.filter(isForNow));
    else infeasible.push({ ...task, types: passed });
  }
  for (const { gang, runs } of unplaced.gangs) {
    const passed = runs.flatMap(({ shape }) => passedBy(shape));
    if (couldHold(pass, runs)) wait({ kind: 'gang', gang: gang.id }, unique(passed.filter(isForNow)));
    else infeasible.push({ kind: 'gang', gang, types: unique(runs.flatMap(({ shape }) => everPassedBy(shape))) });
  }
  for (const { standing, runs } of unplaced.standing) {
    const passed = runs.flatMap(({ shape }) => passedBy(shape));
    if (couldHold(pass, runs)) wait({ kind: 'standing', standing }, unique(passed.filter(isForNow)));
    else
      infeasible.push({ kind: 'standing', standing, types: unique(runs.flatMap(({ shape }) => everPassedBy(shape))) });
  }
  for (const { shape, count, type, pending, allowed } of held.demand)
    wait({ kind: 'tasks', request: shape.request, count }, [
      { type: type.name, why: { kind: 'upscaling-speed', pending, allowed } },
    ]);
  if (pass.policy.like === 'manta')
    for (const type of pass.types) {
      const have = pass.bins.filter((bin) => bin.fate !== 'end' && bin.state.type === type).length;
      const missing = typeFloor(pass, type) - have;
      if (missing > 0) wait({ kind: 'min-workers', type: type.name, count: missing }, holding.get(type) ?? []);
    }
  return { infeasible, waiting, until };
}

/** What keeps a type that could hold the demand from being launched now. */
function holdsUp(pass: Pass, type: Pass['types'][number]): Passed[] {
  const max = type.spec?.maxWorkers ?? 0;
  const workers = pass.policy.like === 'ray' ? [] : leavingWorkers(pass);
  const leaving = (room: number, count: number): { leaving?: number } =>
    room + count >= type.hosts && count > 0 ? { leaving: count } : {};
  const ofType = typeRoom(pass, type);
  if (ofType < type.hosts) {
    const others = workers.filter((one) => one.type === type.name).length;
    return [{ type: type.name, why: { kind: 'type-limit', max, ...leaving(ofType, others) } }];
  }
  const ofAll = clusterRoom(pass);
  if (ofAll < type.hosts) {
    const most = pass.spec.maxWorkers ?? 0;
    return [{ type: type.name, why: { kind: 'cluster-limit', max: most, ...leaving(ofAll, workers.length) } }];
  }
  const offers = pass.offers.get(type);
  if (offers?.offer !== undefined) return [];
  return (offers?.refused ?? []).map(({ offer, refusal }) => ({
    type: type.name,
    ...(offer.zone === undefined ? {} : { zone: offer.zone }),
    market: offer.market,
    why: { kind: 'refused', refusal },
  }));
}

/** The limit that ends the growth of a type first, reached or not. */
function limitOf({ spec }: Pass, type: Pass['types'][number]): Passed['why'] {
  const max = type.spec?.maxWorkers ?? 0;
  return spec.maxWorkers !== undefined && spec.maxWorkers < max
    ? { kind: 'cluster-limit', max: spec.maxWorkers }
    : { kind: 'type-limit', max };
}

const isForNow = ({ why }: Passed): boolean => why.kind !== 'too-small' && why.kind !== 'labels';

function unique(passed: readonly Passed[]): Passed[] {
  const seen = new Map(passed.map((one) => [JSON.stringify(one), one]));
  return [...seen.values()];
}
