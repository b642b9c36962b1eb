import type { Measurement } from '../../scripts/bench.ts';

interface Pair {
  readonly manta: number;
  readonly ray: number;
  readonly as: (value: number) => string;
}

/** A line of the table: how many times as much Ray takes. */
export const beside = (name: string, { manta, ray, as }: Pair): Measurement => ({
  name,
  ours: as(manta),
  theirs: as(ray),
  ratio: ray / manta,
});

export function atLeast(goal: number, name: string, pair: Pair): Measurement {
  const line = beside(name, pair);
  return { ...line, goal: `at least ${goal}x`, reached: line.ratio! >= goal };
}
