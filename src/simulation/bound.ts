import type { Duration } from '../base/time/clock.ts';
import type { LabelSelector, Resources } from '../core/resources.ts';
import { amountOf, sumResources } from '../core/resources.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import { seededRandom } from './random.ts';
import { draw, type Scenario, type ScenarioSubmission, submissions } from './scenario/scenario.ts';
import { matches } from './work.ts';

const hour = 3_600_000;
const rounds = 1_500;
/** Every planner has its floors up by then. */
const floorsStand: Duration = 900_000;

/** Work of one shape, as far as the bound goes: machine time that only some types can give. */
export interface Load {
  readonly resources: Resources;
  /** How long all of it runs, added up. */
  readonly time: Duration;
  /** Types that can hold it, by their place in the list. */
  readonly types: readonly number[];
}

/** A machine type to the bound. */
export interface BoundType {
  readonly resources: Resources;
  readonly pricePerHour: number;
}

/**
 * What any schedule must cost that finishes all work within `makespan`; undefined where a price is unknown.
 *
 * Proof. Let a schedule keep machines of type t on for m_t hours in all, and run x_st hours of load s on them. All work is done:
 * Σ_t x_st = W_s. No machine runs more than it has: Σ_s x_st · r_sk ≤ m_t · c_tk for each resource k. Take any y_tk ≥ 0 with
 * Σ_k y_tk ≤ p_t, and v_s = min over the types t that can hold s of Σ_k y_tk · r_sk / c_tk. Then
 *   cost = Σ_t p_t m_t ≥ Σ_t Σ_k y_tk m_t ≥ Σ_t Σ_k y_tk Σ_s x_st r_sk / c_tk ≥ Σ_s v_s Σ_t x_st = Σ_s v_s W_s,
 * whatever y is: a bad choice makes the bound weak, never wrong (`cheapest`). A floor of n workers is a load of its own, from
 * the 15th minute on, that only its type can hold. Times in which a machine starts are paid and do no work: m_t above counts the time after that alone.
 * A machine works for at most H, from the start of the run to the end of the makespan, so there are at least Σ m_t / H of them,
 * and the n-th machine of a run takes equally long to start for every planner: that much is paid on top, at the lowest price.
 */
export function lowerBound(scenario: Scenario, seed: number, makespan: Duration): number | undefined {
  const workers = scenario.spec.nodeTypes.filter(
    ({ name, maxWorkers }) => maxWorkers > 0 && name !== scenario.spec.headType,
  );
  const types = workers.map(({ resources, offers }) => ({
    resources,
    pricePerHour: Math.min(...offers.map(({ pricePerHour = Number.NaN }) => pricePerHour)),
  }));
  if (types.some(({ pricePerHour }) => Number.isNaN(pricePerHour))) return undefined;
  const work = submissions(scenario.work, seededRandom(seed).split('work'));
  const first = Math.min(...work.flatMap((each) => (each.kind === 'standing' ? [] : [each.at])));
  if (first === Number.POSITIVE_INFINITY) return 0;
  const horizon = first + makespan;
  const loads = loadsOf(work, workers);
  const floors = workers.flatMap(({ minWorkers }, at): Load[] =>
    minWorkers === 0
      ? []
      : [{ resources: { [floorOf(at)]: 1 }, time: minWorkers * Math.max(0, horizon - floorsStand), types: [at] }],
  );
  const priced = types.map((type, at) => ({ ...type, resources: { ...type.resources, [floorOf(at)]: 1 } }));
  const least = Math.ceil(
    cheapest(
      types.map((type) => ({ ...type, pricePerHour: 1 })),
      loads,
    ) /
      (horizon / hour) -
      1e-9,
  );
  const price = Math.min(...types.map(({ pricePerHour }) => pricePerHour));
  return cheapest(priced, [...loads, ...floors]) + (price * startTimes(scenario, seed, least)) / hour;
}

const floorOf = (type: number): string => `a worker of type ${type}`;

/** The submissions by shape. Bundles of a gang count by themselves; those that share a node count as one. */
function loadsOf(work: readonly ScenarioSubmission[], types: ScalingSpec['nodeTypes']): readonly Load[] {
  const loads = new Map<string, { readonly resources: Resources; time: Duration; readonly types: number[] }>();
  const add = (resources: Resources, selectors: readonly LabelSelector[], time: Duration): void => {
    const key = JSON.stringify([resources, selectors]);
    const load = loads.get(key) ?? {
      resources,
      time: 0,
      types: types.flatMap((type, at) =>
        Object.entries(resources).every(([name, amount]) => amount <= amountOf(type.resources, name) + 1e-9) &&
        matches(type.labels, selectors)
          ? [at]
          : [],
      ),
    };
    loads.set(key, load);
    load.time += time;
  };
  for (const each of work) {
    if (each.kind === 'standing') continue;
    if (each.kind !== 'gang') add(each.resources, each.selectors, each.duration);
    else if (each.strategy === 'STRICT_PACK') add(sumResources(each.bundles), [], each.duration);
    else for (const bundle of each.bundles) add(bundle, [], each.duration);
  }
  // What no type can hold never runs, and costs nothing.
  return [...loads.values()].filter((load) => load.types.length > 0);
}

/** How long the first `count` machines of a run take to become nodes, added up: as `cloud.ts` and `starter.ts` draw it. */
function startTimes({ cloud }: Scenario, seed: number, count: number): Duration {
  const random = seededRandom(seed);
  const [boots, setups] = [random.split('cloud'), random.split('set-up')];
  let sum = 0;
  for (let machine = 1; machine <= count; machine++) {
    sum += draw(cloud.boot, boots.split(`boot ${machine}`));
    sum += draw(cloud.setup, setups.split(`i-${String(machine + 1).padStart(5, '0')}`));
  }
  return sum;
}

/**
 * The best Σ v_s W_s of the proof that a fixed number of steps finds: the price of each type is shared out among its
 * resources, and more of it goes to those that hold back work.
 */
export function cheapest(types: readonly BoundType[], loads: readonly Load[]): number {
  const shares = types.map(({ resources, pricePerHour }) => {
    const names = Object.keys(resources).filter((name) => (resources[name] as number) > 0);
    return new Map(names.map((name) => [name, pricePerHour / names.length]));
  });
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const pulls = types.map(() => new Map<string, number>());
    let value = 0;
    for (const { resources, time, types: holders } of loads) {
      let least = Number.POSITIVE_INFINITY;
      let holder = -1;
      for (const at of holders) {
        const price = priceOf(resources, types[at] as BoundType, shares[at] as ReadonlyMap<string, number>);
        if (price < least) [least, holder] = [price, at];
      }
      value += (least * time) / hour;
      const pull = pulls[holder] as Map<string, number>;
      for (const name in resources) {
        const part = (resources[name] as number) / amountOf((types[holder] as BoundType).resources, name);
        if (part > 0) pull.set(name, (pull.get(name) ?? 0) + part * time);
      }
    }
    best = Math.max(best, value);
    shares.forEach((share, at) =>
      shift(share, pulls[at] as Map<string, number>, (types[at] as BoundType).pricePerHour, round),
    );
  }
  return best;
}

function priceOf(resources: Resources, type: BoundType, share: ReadonlyMap<string, number>): number {
  let price = 0;
  for (const name in resources) {
    const has = amountOf(type.resources, name);
    if (has > 0) price += ((share.get(name) ?? 0) * (resources[name] as number)) / has;
  }
  return price;
}

function shift(share: Map<string, number>, pull: ReadonlyMap<string, number>, price: number, round: number): void {
  const most = Math.max(...pull.values());
  if (!(most > 0)) return;
  const step = 1 / Math.sqrt(1 + round);
  let sum = 0;
  for (const [name, value] of share) {
    const next = value * Math.exp((step * (pull.get(name) ?? 0)) / most);
    share.set(name, next);
    sum += next;
  }
  for (const [name, value] of share) share.set(name, (value * price) / sum);
}
