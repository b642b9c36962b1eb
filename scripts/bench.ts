/** Measures Manta beside what it is compared with, in the same run: `npm run bench [-- NAME...]`. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One line of the table. Every file of `bench/` exports `run(): Promise<Measurement[]>`. */
export interface Measurement {
  readonly name: string;
  readonly ours: string;
  /** What it stands beside, measured in the same run. */
  readonly theirs?: string;
  readonly ratio?: number;
  readonly goal?: string;
  readonly reached?: boolean;
}

async function main(names: readonly string[]): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const files = globSync('bench/*.ts', { cwd: root }).sort();
  const chosen = files.filter((file) => names.length === 0 || names.includes(basename(file, '.ts')));
  if (chosen.length === 0)
    throw new Error(`no such benchmark; there are ${files.map((each) => basename(each, '.ts')).join(', ')}`);
  const measured: Measurement[] = [];
  for (const file of chosen) {
    process.stderr.write(`measuring ${file} …\n`);
    const { run } = (await import(`../${file}`)) as { run: () => Promise<Measurement[]> };
    measured.push(...(await run()));
  }
  process.stdout.write(`${tableOf(measured)}\n`);
}

function tableOf(measured: readonly Measurement[]): string {
  const rows = [
    ['what', 'Manta', 'beside', 'ratio', 'goal', ''],
    ...measured.map(({ name, ours, theirs, ratio, goal, reached }) => [
      name,
      ours,
      theirs ?? '',
      ratio === undefined ? '' : ratio >= 100 ? ratio.toFixed(0) : ratio.toPrecision(3),
      goal ?? '',
      reached === undefined ? '' : reached ? 'reached' : 'MISSED',
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

if (import.meta.main) await main(process.argv.slice(2));
