import { amountOf } from '../../core/resources.ts';
import { durationText, moneyText, percentText, ratio, ratioText } from './amounts.ts';
import { drawRun } from './drawing.ts';
import type { Outcome, Side } from './outcome.ts';

interface Row {
  readonly name: string;
  readonly show: (side: Side) => string;
  /** What the ratio between two sides is taken of. */
  readonly compare?: (side: Side) => number | undefined;
}

const count = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

/** The figures of an outcome, in the order in which they matter. */
export function rowsOf(outcome: Outcome): readonly Row[] {
  const types = [...new Set(outcome.sides.flatMap((side) => Object.keys(side.nodeHours)))];
  const optional = (name: string, pick: (side: Side) => number): Row[] =>
    outcome.sides.some((side) => pick(side) > 0) ? [{ name, show: (side) => count(pick(side)) }] : [];
  return [
    { name: 'makespan', show: (side) => durationText(side.makespan), compare: (side) => side.makespan },
    { name: 'wait, median', show: (side) => durationText(side.waitP50), compare: (side) => side.waitP50 },
    { name: 'wait, 95th percentile', show: (side) => durationText(side.waitP95), compare: (side) => side.waitP95 },
    { name: 'wait, longest', show: (side) => durationText(side.waitMax), compare: (side) => side.waitMax },
    { name: 'cost', show: (side) => moneyText(side.cost), compare: (side) => side.cost },
    { name: 'node hours', show: (side) => side.totalNodeHours.toFixed(2), compare: (side) => side.totalNodeHours },
    ...types.map((type) => ({ name: `  ${type}`, show: (side: Side) => amountOf(side.nodeHours, type).toFixed(2) })),
    { name: 'idle or starting', show: (side) => percentText(side.idleShare) },
    { name: 'most nodes at once', show: (side) => count(side.peakNodes) },
    { name: 'launches', show: (side) => count(side.launches) },
    { name: 'terminations', show: (side) => count(side.terminations) },
    ...optional('cancelled or never used', (side) => side.neverUsed),
    ...optional('preemptions', (side) => side.preemptions),
    ...optional('work begun again', (side) => side.restarts),
    ...optional('work never finished', (side) => side.unfinished),
    ...optional('faults that fired', (side) => side.faultsFired),
    ...optional('rules broken', (side) => side.brokenRules),
    { name: 'passes', show: (side) => count(side.passes) },
  ];
}

/** The ratio column of a row; empty where there is nothing to compare. */
export function rowRatio(row: Row, outcome: Outcome): string {
  const [own, other] = outcome.sides.map((side) => row.compare?.(side));
  return own === undefined || other === undefined ? '' : ratioText(ratio(own, other));
}

/** An outcome as text, with a drawing for each side that fits `width` columns. */
export function outcomeText(outcome: Outcome, width: number): string {
  const { scenario, seeds, faults, sides } = outcome;
  const rows = rowsOf(outcome);
  const first = Math.max(...rows.map((row) => row.name.length)) + 2;
  const column = 12;
  const lines = [
    scenario.summary === '' ? scenario.name : `${scenario.name}: ${scenario.summary}`,
    `seed ${seeds.length > 1 ? `${seeds[0]} to ${seeds.at(-1)}, means` : seeds[0]}, faults: ${faults}`,
    '',
  ];
  if (sides.length > 1) {
    lines.push(
      `${''.padEnd(first)}${sides.map((side) => side.decider.padStart(column)).join('')}${'ratio'.padStart(column)}`,
    );
  }
  for (const row of rows) {
    const cells = sides.map((side) => row.show(side).padStart(column)).join('');
    const last = sides.length > 1 ? rowRatio(row, outcome).padStart(column) : '';
    lines.push(`${row.name.padEnd(first)}${cells}${last}`.trimEnd());
  }
  for (const side of sides) {
    lines.push('', ...(sides.length > 1 ? [side.decider] : []), ...drawRun(side.samples, Math.min(width, 120)));
  }
  return `${lines.join('\n')}\n`;
}
