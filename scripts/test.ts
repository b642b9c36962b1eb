/**
 * Everything that says whether Manta works: `npm test`. Runs the checks, every test file, the documents' checks and
 * the simulation, and ends with one line `N passed, N failed`. `npm test -- FILE...` runs only those files.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runChecks } from './check.ts';
import { installComponents } from './components.ts';
import { soak, tallyLines } from './soak.ts';
import { runTestFiles } from './test-files.ts';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skip[];
}

export interface Skip {
  readonly name: string;
  readonly reason: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const simulatedRuns = 10_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function checks(): Promise<Tally> {
  const results = await runChecks(({ name, ok, output }) => say(ok ? `ok    ${name}` : `FAIL  ${name}\n${output}`));
  const failed = results.filter(({ ok }) => !ok).length;
  return { passed: results.length - failed, failed, skipped: [] };
}

/** Each fault profile counts as one test; the closing lines say how many runs it had. */
async function simulation(): Promise<Tally> {
  let told = 0;
  const tally = await soak({
    runs: simulatedRuns,
    onProgress: (done, total) => {
      if (done < told) return;
      told += total / 10;
      say(`      ${done} of ${total} simulated runs`);
    },
  });
  for (const line of tallyLines(tally)) say(`      ${line}`);
  const profiles = Object.values(tally.byProfile);
  const failed = profiles.filter((profile) => profile.failed > 0).length;
  return { passed: profiles.length - failed, failed, skipped: [] };
}

/** What is missing here but could be installed must not be passed over where a machine decides. */
const mustNotSkip = ({ reason }: Skip): boolean => Boolean(process.env['CI']) && !/optional|\bshared\b/i.test(reason);

const named = process.argv.slice(2);
if (named.length === 0) await installComponents(say);
const files = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: root }).sort();
/** Real Rays and hosts take all cores there are: two at a time would only run into each other's deadlines. */
const takesAll = (file: string): boolean =>
  /^test\/(?:lab|bringup|launcher|engines\/ray)\//.test(file) ||
  /^test\/(?:head\/client\/real-ray|head\/gateway\/ray|providers\/local\/lab)\.test\.ts$/.test(file);
const suites =
  named.length > 0
    ? [() => runTestFiles(root, files, say)]
    : [
        checks,
        () =>
          runTestFiles(
            root,
            files.filter((file) => !takesAll(file)),
            say,
          ),
        () => runTestFiles(root, files.filter(takesAll), say, 1),
        simulation,
      ];

const tallies: Tally[] = [];
for (const suite of suites) tallies.push(await suite());

const skipped = tallies.flatMap((tally) => tally.skipped);
const refused = skipped.filter(mustNotSkip);
for (const { name, reason } of skipped) say(`skip  ${name}: ${reason}`);
for (const { name } of refused) say(`FAIL  ${name}: skipped, and nothing may be missing when CI is set`);
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0) + refused.length;
const rest = skipped.length - refused.length;
say(`${passed} passed, ${failed} failed${rest > 0 ? `, ${rest} skipped` : ''}`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
