import type { BedName, Demand, Scenario } from './scenario.ts';

/** The scenarios as a table of Markdown. */
export function scenarioTable(scenarios: readonly Scenario[]): string {
  const rows = scenarios.map((scenario) =>
    [scenario.name, demandText(scenario.demand), scenario.fault, ...beds.map((bed) => mark(scenario, bed))].join(' | '),
  );
  return [
    '| what Manta does | demand | what goes wrong | own hosts | cloud | embedded |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

const beds: readonly BedName[] = ['pool', 'cloud', 'embedded'];

function mark({ on, often }: Scenario, bed: BedName): string {
  if (!on.includes(bed)) return '';
  return often?.includes(bed) ? 'test' : 'soak';
}

const amounts = (resources: Readonly<Record<string, number>>): string =>
  Object.entries(resources)
    .map(([name, amount]) => `${amount} ${name}`)
    .join(', ');

function demandText(demand: Demand): string {
  switch (demand.kind) {
    case 'group':
      return `${demand.strategy} of ${demand.bundles.map(amounts).join(' + ')}`;
    case 'request':
      return `request_resources of ${demand.bundles.map(amounts).join(' + ')}`;
    case 'floor':
      return `min_workers ${demand.count}`;
    default: {
      const { kind, count, cpus, resources = {}, labels } = demand;
      const each = amounts({ ...(cpus !== undefined && { CPU: cpus }), ...resources });
      const where =
        labels === undefined
          ? ''
          : `, ${Object.entries(labels)
              .map((pair) => pair.join('='))
              .join()}`;
      return `${count} ${count === 1 ? kind.slice(0, -1) : kind} of ${each}${where}`;
    }
  }
}
