import type { Duration } from '../../base/time/clock.ts';
import type { Unserved } from '../../core/plan/words.ts';
import { amountOf } from '../../core/resources.ts';
import { durationText, moneyText, percentText, ratio, ratioText } from './amounts.ts';
import { drawRun } from './drawing.ts';
import type { ScenarioOutcome, Side } from './outcome.ts';

interface Row {
  readonly name: string;
  /** Part of the row above it. */
  readonly under?: boolean;
  readonly show: (side: Side) => string;
  /** What the ratio between two sides is taken of. */
  readonly compare?: (side: Side) => number | undefined;
}

const count = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

/** A time that only work which was done can have. */
const time = (name: string, pick: (side: Side) => Duration): Row => ({
  name,
  show: (side) => (side.finished === 0 ? '-' : durationText(pick(side))),
  compare: (side) => (side.finished === 0 ? undefined : pick(side)),
});

/** The figures of an outcome, in the order in which they matter. */
export function rowsOf(outcome: ScenarioOutcome): readonly Row[] {
  const types = [...new Set(outcome.sides.flatMap((side) => Object.keys(side.nodeHours)))];
  const optional = (name: string, pick: (side: Side) => number): Row[] =>
    outcome.sides.some((side) => pick(side) > 0) ? [{ name, show: (side) => count(pick(side)) }] : [];
  return [
    time('makespan', (side) => side.makespan),
    time('wait, median', (side) => side.waitP50),
    time('wait, 95th percentile', (side) => side.waitP95),
    time('wait, longest', (side) => side.waitMax),
    { name: 'cost', show: (side) => moneyText(side.cost), compare: (side) => side.cost },
    { name: 'node hours', show: (side) => side.totalNodeHours.toFixed(2), compare: (side) => side.totalNodeHours },
    ...types.map((type) => ({
      name: type,
      under: true,
      show: (side: Side) => amountOf(side.nodeHours, type).toFixed(2),
    })),
    { name: 'idle or starting', show: (side) => percentText(side.idleShare) },
    { name: 'hours starting', under: true, show: (side) => side.wasted.starting.toFixed(2) },
    { name: 'hours idle', under: true, show: (side) => side.wasted.idle.toFixed(2) },
    { name: 'hours without a fit', under: true, show: (side) => side.wasted.unfit.toFixed(2) },
    { name: 'most nodes at once', show: (side) => count(side.peakNodes) },
    { name: 'launches', show: (side) => count(side.launches) },
    { name: 'terminations', show: (side) => count(side.terminations) },
    ...optional('cancelled or never used', (side) => side.neverUsed),
    ...optional('preemptions', (side) => side.preemptions),
    ...optional('work restarted', (side) => side.restarts),
    ...optional('work never finished', (side) => side.unfinished),
    ...optional('faults that fired', (side) => side.faultsFired),
    ...optional('rules broken', (side) => side.brokenRules),
    { name: 'passes', show: (side) => count(side.passes) },
  ];
}

/** The first side against each other one; empty where there is nothing to compare. */
export function rowRatios(row: Row, outcome: ScenarioOutcome): readonly string[] {
  const [own, ...others] = outcome.sides.map((side) => row.compare?.(side));
  return others.map((other) => (own === undefined || other === undefined ? '' : ratioText(ratio(own, other))));
}

/** Headings of the columns that `rowRatios` fills. */
export const ratioHeadings = ({ sides }: ScenarioOutcome): readonly string[] =>
  sides.length === 2 ? ['ratio'] : sides.slice(1).map(({ decider }) => `to ${decider}`);

/** What the bound says of the first side; undefined where there is none. */
export function boundText({ bound, sides: [own] }: ScenarioOutcome): string | undefined {
  if (bound === undefined) return undefined;
  const times = own?.cost === undefined ? '' : `; ${own.decider} costs ${ratioText(ratio(own.cost, bound))}`;
  return `no schedule that finishes as early costs less than ${moneyText(bound)}${times}`;
}

/** Without any machine there is nothing to draw. */
export const hasChart = (side: Side): boolean => side.launches > 0 || side.finished > 0;

/** More than anybody reads; the rest is in `--json`. */
const mostReasons = 20;

/** Why work was never finished: each demand, and under it what keeps every node type from serving it. */
export function unfinishedReasons(side: Side): readonly Unserved[] {
  const { unserved } = side;
  if (unserved.length === 0) return [{ demand: `${side.decider} had not finished when the simulation ended`, why: [] }];
  const more = unserved.length - mostReasons;
  return [...unserved.slice(0, mostReasons), ...(more > 0 ? [{ demand: `and ${more} more`, why: [] }] : [])];
}

function unfinishedLines(side: Side, named: boolean, width: number): string[] {
  return [
    `why work was never finished${named ? `, ${side.decider}` : ''}`,
    ...unfinishedReasons(side).flatMap(({ demand, why }) => [
      ...wrapped(demand, '  ', width),
      ...why.flatMap((each) => wrapped(each, '    ', width)),
    ]),
  ];
}

/** In lines of at most `width`, cut between words. */
function wrapped(text: string, indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    const next = line.trim() === '' ? line + word : `${line} ${word}`;
    if (next.length <= width || line.trim() === '') line = next;
    else {
      lines.push(line);
      line = `${indent}  ${word}`;
    }
  }
  return [...lines, line];
}

/** An outcome as text, with a drawing for each side that fits `width` columns. */
export function outcomeText(outcome: ScenarioOutcome, width: number): string {
  const { scenario, seeds, faults, sides } = outcome;
  const rows = rowsOf(outcome);
  const nameOf = (row: Row): string => (row.under === true ? `  ${row.name}` : row.name);
  const first = Math.max(...rows.map((row) => nameOf(row).length)) + 2;
  const column = 12;
  const lines = [
    scenario.summary === '' ? scenario.name : `${scenario.name}: ${scenario.summary}`,
    `seed ${seeds.length > 1 ? `${seeds[0]} to ${seeds.at(-1)}, means` : seeds[0]}, faults: ${faults}`,
    '',
  ];
  if (sides.length > 1) {
    lines.push(
      `${''.padEnd(first)}${[...sides.map((side) => side.decider), ...ratioHeadings(outcome)].map((each) => each.padStart(column)).join('')}`,
    );
  }
  for (const row of rows) {
    const cells = sides.map((side) => row.show(side).padStart(column)).join('');
    const ratios = rowRatios(row, outcome).map((each) => each.padStart(column));
    lines.push(`${nameOf(row).padEnd(first)}${cells}${ratios.join('')}`.trimEnd());
  }
  const least = boundText(outcome);
  if (least !== undefined) lines.push('', least);
  for (const side of sides) {
    if (side.unfinished > 0) lines.push('', ...unfinishedLines(side, sides.length > 1, Math.min(width, 120)));
  }
  for (const side of sides.filter(hasChart)) {
    lines.push('', ...(sides.length > 1 ? [side.decider] : []), ...drawRun(side.samples, Math.min(width, 120)));
  }
  return `${lines.join('\n')}\n`;
}
