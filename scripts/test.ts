/**
 * Says whether Manta works, and ends with one line `N passed, N failed`. Which files a command runs is decided by what
 * they need (test-needs.ts).
 *
 *   npm run test:unit [WORD...]   what needs nothing but Node
 *   npm test                      the checks, all of that, clusters on this machine, the page, Ray's client, 10,000
 *                                 simulated seeds, and one path through the lab
 *   npm run test:lab [WORD...]    everything else: real Ray, hosts, containers, clouds
 *   npm test -- FILE...           only these files
 *
 * With words, only files that have one of them in their path.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checks } from './check.ts';
import { installComponents } from './components.ts';
import { runTestFile } from './test-files.ts';
import { runTestJobs, type Skip, type Tally, type TestJob } from './test-jobs.ts';
import { findTestFiles, type Need, type TestFile } from './test-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const simulatedRuns = 10_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Hundreds of processes load the same sources: each after the first finds them compiled. */
process.env['NODE_COMPILE_CACHE'] ??= join(root, '.cache/compiled');

const checkJobs: readonly TestJob[] = checks.map(({ name, run }) => ({
  name,
  run: async (tell) => {
    const { ok, output, missing = '' } = await run();
    if (!ok) tell(`FAIL  ${name}\n${output}${missing}`);
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [] };
  },
}));

/** Each fault profile counts as one test; the closing lines say how many runs it had. */
const simulation: TestJob = {
  name: `${simulatedRuns} simulated runs`,
  alone: true,
  run: async (tell) => {
    const { soak, tallyLines } = await import('./soak.ts');
    const tally = await soak({ runs: simulatedRuns });
    for (const line of tallyLines(tally)) tell(`      ${line}`);
    const profiles = Object.values(tally.byProfile);
    const failed = profiles.filter((profile) => profile.failed > 0).length;
    return { passed: profiles.length - failed, failed, skipped: [] };
  },
};

const fileJob = ({ path }: Pick<TestFile, 'path'>): TestJob => ({
  name: path,
  run: (tell) => runTestFile(root, path, tell),
});

/** What takes longest first, so that small files fill the end. */
const slowest: readonly Need[] = ['ray', 'podman', 'chromium', 'ray-client', 'cluster', 'hosts'];
const slowness = ({ needs }: TestFile): number =>
  Math.max(0, ...needs.map((need) => (slowest.includes(need) ? slowest.length - slowest.indexOf(need) : 0)));
const slowestFirst = (files: readonly TestFile[]): TestFile[] => [...files].sort((a, b) => slowness(b) - slowness(a));

async function jobsOf(tier: TestFile['tier'], words: readonly string[]): Promise<readonly TestJob[]> {
  const { files } = findTestFiles();
  const wanted = files.filter(
    (file) =>
      (file.tier === tier || (tier === 'test' && file.tier === 'unit')) &&
      (words.length === 0 || words.some((word) => file.path.includes(word))),
  );
  if (wanted.length === 0) throw new Error(`no test file of this command has '${words.join("' or '")}' in its path`);
  const needs = wanted.flatMap((file) => file.needs);
  await installComponents(new Set(tier === 'test' ? [...needs, 'shellcheck'] : needs), say);
  const jobs = slowestFirst(wanted).map(fileJob);
  return tier === 'test' ? [...checkJobs, ...jobs, simulation] : jobs;
}

function namedJobs(files: readonly string[]): readonly TestJob[] {
  const missing = files.find((file) => !existsSync(resolve(root, file)));
  if (missing !== undefined) throw new Error(`there is no test file '${missing}'`);
  return files.map((path) => fileJob({ path }));
}

async function chooseJobs([first, ...words]: readonly string[]): Promise<readonly TestJob[]> {
  if (first === '--unit') return await jobsOf('unit', words);
  if (first === '--lab') return await jobsOf('lab', words);
  return first === undefined ? await jobsOf('test', []) : namedJobs([first, ...words]);
}

/** What is missing here but could be installed must not be passed over where a machine decides. */
const mustNotSkip = ({ reason }: Skip): boolean => Boolean(process.env['CI']) && !/optional|\bshared\b/i.test(reason);

function close({ passed, failed: broken, skipped }: Tally): number {
  const refused = skipped.filter(mustNotSkip);
  for (const { name, reason } of skipped) say(`skip  ${name}: ${reason}`);
  for (const { name } of refused) say(`FAIL  ${name}: skipped, and nothing may be missing when CI is set`);
  const failed = broken + refused.length;
  const rest = skipped.length - refused.length;
  say(`${passed} passed, ${failed} failed${rest > 0 ? `, ${rest} skipped` : ''}`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

try {
  const jobs = await chooseJobs(process.argv.slice(2));
  process.exit(close(await runTestJobs(jobs, say)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(2);
}
