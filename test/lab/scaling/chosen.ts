import type { BedName, Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** Set by `npm run soak -- scaling`: all scenarios, or those whose names hold one of these texts, parted by `|`. */
const asked = process.env['MANTA_SCENARIOS'];

/** The scenarios of a bed that are to be played now; what is left is said. */
export function chosen(bed: BedName): readonly Scenario[] {
  const here = scenarios.filter(({ on }) => on.includes(bed));
  if (asked === 'all') return here;
  if (asked !== undefined) return here.filter(({ name }) => asked.split('|').some((part) => name.includes(part)));
  const often = here.filter((scenario) => scenario.often?.includes(bed));
  for (const scenario of here)
    if (!often.includes(scenario))
      process.stderr.write(`left to 'npm run soak -- scaling' (${bed}): ${scenario.name}\n`);
  return often;
}
