import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type BoundType, cheapest } from '../../src/simulation/bound.ts';

const hour = 3_600_000;

interface Task {
  readonly cpus: number;
  readonly memory: number;
  /** In hours. */
  readonly time: number;
}

/** The least that a few tasks can cost: every way to share them out among machines, each of every type. */
function leastCost(types: readonly BoundType[], tasks: readonly Task[]): number {
  if (tasks.length === 0) return 0;
  let least = Number.POSITIVE_INFINITY;
  const [first, ...rest] = tasks as [Task, ...Task[]];
  for (let chosen = 0; chosen < 2 ** rest.length; chosen++) {
    const together = [first, ...rest.filter((_, at) => (chosen >> at) & 1)];
    const others = rest.filter((_, at) => !((chosen >> at) & 1));
    const one = Math.min(...types.map((type) => type.pricePerHour * shortest(type, together)));
    if (one < least) least = Math.min(least, one + leastCost(types, others));
  }
  return least;
}

/** How long a machine must be on for tasks: the shortest of all orders in which each begins as soon as it fits. */
function shortest(type: BoundType, tasks: readonly Task[]): number {
  const fits = (running: readonly Task[], next: Task): boolean =>
    running.reduce((sum, { cpus }) => sum + cpus, next.cpus) <= (type.resources['CPU'] ?? 0) &&
    running.reduce((sum, { memory }) => sum + memory, next.memory) <= (type.resources['memory'] ?? 0);
  if (tasks.some((task) => !fits([], task))) return Number.POSITIVE_INFINITY;
  let best = Number.POSITIVE_INFINITY;
  const go = (left: readonly Task[], running: readonly { task: Task; until: number }[], now: number): void => {
    if (left.length === 0) {
      best = Math.min(best, Math.max(...running.map(({ until }) => until)));
      return;
    }
    for (const task of left) {
      let at = now;
      let live = running;
      for (;;) {
        live = running.filter(({ until }) => until > at);
        if (
          fits(
            live.map((each) => each.task),
            task,
          )
        )
          break;
        at = Math.min(...live.map(({ until }) => until));
      }
      go(
        left.filter((each) => each !== task),
        [...running, { task, until: at + task.time }],
        at,
      );
    }
  };
  go(tasks, [], 0);
  return best;
}

test('no way to run a few tasks costs less than the bound', () => {
  const type = fc.record({
    resources: fc.record({ CPU: fc.integer({ min: 1, max: 4 }), memory: fc.integer({ min: 1, max: 8 }) }),
    pricePerHour: fc.integer({ min: 1, max: 20 }),
  });
  const task = fc.record({
    cpus: fc.integer({ min: 1, max: 4 }),
    memory: fc.integer({ min: 0, max: 8 }),
    time: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(
      fc.array(type, { minLength: 1, maxLength: 3 }),
      fc.array(task, { minLength: 1, maxLength: 4 }),
      (types, drawn) => {
        const holders = ({ cpus, memory }: Task) =>
          types.flatMap(({ resources }, at) => (cpus <= resources.CPU && memory <= resources.memory ? [at] : []));
        const tasks = drawn.filter((each) => holders(each).length > 0).map((each) => ({ ...each }));
        const bound = cheapest(
          types,
          tasks.map((each) => ({
            resources: { CPU: each.cpus, memory: each.memory },
            time: each.time * hour,
            types: holders(each),
          })),
        );
        const least = leastCost(types, tasks);
        assert.ok(bound <= least + 1e-9, `bound ${bound}, least ${least}`);
      },
    ),
    { numRuns: 150 },
  );
});

test('the bound is exact where work fills machines of one type', () => {
  const types = [{ resources: { CPU: 4, memory: 8 }, pricePerHour: 2 }];
  const loads = [{ resources: { CPU: 2, memory: 1 }, time: 10 * hour, types: [0] }];
  assert.ok(Math.abs(cheapest(types, loads) - 10) < 0.05);
});
