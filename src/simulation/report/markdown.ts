import { durationText, geometricMean, moneyText } from './amounts.ts';
import { ratiosOf, type ScenarioOutcome } from './outcome.ts';

/** Many outcomes as one Markdown table, with the geometric means below. */
export function outcomesMarkdown(outcomes: readonly ScenarioOutcome[]): string {
  const rows = outcomes.map((outcome) => {
    const [own, other] = outcome.sides;
    const ratios = ratiosOf(outcome);
    const cell = (value: number | undefined): string => (value === undefined ? '' : flagged(value));
    return [
      `\`${outcome.scenario.name}\``,
      moneyText(own?.cost),
      other === undefined ? '' : moneyText(other.cost),
      cell(ratios?.cost),
      durationText(own?.makespan ?? 0),
      other === undefined ? '' : durationText(other.makespan),
      cell(ratios?.makespan),
      (own?.launches ?? 0).toFixed(0),
      other === undefined ? '' : other.launches.toFixed(0),
    ];
  });
  const costs = outcomes.flatMap((outcome) => ratiosOf(outcome)?.cost ?? []);
  const makespans = outcomes.flatMap((outcome) => ratiosOf(outcome)?.makespan ?? []);
  const means = [
    '**geometric mean**',
    '',
    '',
    costs.length === 0 ? '' : `**${geometricMean(costs).toFixed(2)}**`,
    '',
    '',
    makespans.length === 0 ? '' : `**${geometricMean(makespans).toFixed(2)}**`,
    '',
    '',
  ];
  const header = [
    'workload',
    'cost, Manta',
    'cost, Ray',
    'ratio',
    'makespan, Manta',
    'makespan, Ray',
    'ratio',
    'launches, Manta',
    'launches, Ray',
  ];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return `${[line(header), line(header.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line), line(means)].join('\n')}\n`;
}

/** Worse than Ray by more than rounding: marked, so that nobody has to look for it. */
const flagged = (value: number): string => (value > 1.005 ? `${value.toFixed(2)} ✗` : value.toFixed(2));
