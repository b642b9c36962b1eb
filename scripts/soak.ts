/**
 * Many simulated clusters under many kinds of faults, with every safety rule watched: `npm run soak`.
 * `npm run soak -- --profile chaos --seed 7` replays one of them; `npm run soak -- scaling` plays scenarios on
 * real Ray, `npm run soak -- kills` kills mantad meanwhile.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { plan } from '../src/core/plan/plan-cluster.ts';
import type { FaultProfile } from '../src/simulation/faults.ts';
import { faultProfileNames, runSeed, type SeedResult } from '../test/simulation/run-seed.ts';

export interface SoakOptions {
  /** How many runs; they go round the profiles. */
  readonly runs: number;
  readonly from?: number;
  readonly profiles?: readonly FaultProfile[];
  readonly workers?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface SoakTally {
  readonly runs: number;
  readonly passes: number;
  readonly faults: number;
  readonly byProfile: Readonly<Record<string, { runs: number; passes: number; faults: number; failed: number }>>;
  readonly byFault: Readonly<Record<string, number>>;
  /** Runs that broke a rule, each with the command that replays it. */
  readonly failures: readonly { readonly result: SeedResult; readonly replay: string }[];
}

interface Job {
  readonly seed: number;
  readonly profile: FaultProfile;
}

const jobsAtOnce = 40;

/** Runs them all, on all cores, and counts what happened. */
export async function soak(options: SoakOptions): Promise<SoakTally> {
  const profiles = options.profiles ?? faultProfileNames;
  const from = options.from ?? 1;
  const jobs = Array.from({ length: options.runs }, (_, index) => ({
    seed: from + Math.floor(index / profiles.length),
    profile: profiles[index % profiles.length] as FaultProfile,
  }));
  const results: SeedResult[] = [];
  let next = 0;
  const runWorker = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url));
      const give = (): void => {
        if (next >= jobs.length) {
          void worker.terminate();
          resolve();
          return;
        }
        worker.postMessage(jobs.slice(next, next + jobsAtOnce), []);
        next += jobsAtOnce;
      };
      worker.on('message', (done: readonly SeedResult[]) => {
        results.push(...done);
        options.onProgress?.(results.length, jobs.length);
        give();
      });
      worker.on('error', reject);
      give();
    });
  await Promise.all(Array.from({ length: options.workers ?? availableParallelism() }, runWorker));
  return count(results);
}

export const replayCommand = (job: Job): string => `npm run soak -- --profile ${job.profile} --seed ${job.seed}`;

function count(results: readonly SeedResult[]): SoakTally {
  const byProfile: Record<string, { runs: number; passes: number; faults: number; failed: number }> = {};
  const byFault: Record<string, number> = {};
  for (const result of results) {
    const profile = (byProfile[result.profile] ??= { runs: 0, passes: 0, faults: 0, failed: 0 });
    profile.runs++;
    profile.passes += result.passes;
    profile.faults += result.faults;
    if (result.violations.length > 0) profile.failed++;
    for (const [fault, times] of Object.entries(result.fired)) byFault[fault] = (byFault[fault] ?? 0) + times;
  }
  const failures = results
    .filter((result) => result.violations.length > 0)
    .map((result) => ({ result, replay: replayCommand(result) }));
  const sum = (pick: (result: SeedResult) => number): number => results.reduce((total, each) => total + pick(each), 0);
  return {
    runs: results.length,
    passes: sum((r) => r.passes),
    faults: sum((r) => r.faults),
    byProfile,
    byFault,
    failures,
  };
}

/** What happened, in lines. */
export function tallyLines(tally: SoakTally): string[] {
  const perRun = (total: number, runs: number): string => (total / Math.max(1, runs)).toFixed(1);
  return [
    ...Object.entries(tally.byProfile).map(
      ([name, { runs, passes, faults, failed }]) =>
        `${name.padEnd(14)} ${runs} runs, ${perRun(passes, runs)} passes and ${perRun(faults, runs)} faults a run, ${failed} failed`,
    ),
    `faults that fired: ${Object.entries(tally.byFault)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ')}`,
    ...tally.failures.slice(0, 20).map(({ result, replay }) => {
      const [first] = result.violations;
      return `FAIL  seed ${result.seed}, ${result.profile}: ${first?.rule}: ${first?.detail}\n      ${replay}`;
    }),
    `${tally.runs} runs, ${perRun(tally.passes, tally.runs)} passes and ${perRun(tally.faults, tally.runs)} faults a run, ` +
      `${tally.failures.length} broke a rule`,
  ];
}

const help = (
  tests: readonly string[],
): string => `Simulates many clusters under many kinds of faults and watches every safety rule.
  npm run soak                                      all of it
  npm run soak -- --profile chaos --seed 7          one run again, as JSON
${tests.join('\n')}

  --runs N        how many runs, going round the profiles (default: 100000)
  --from N        the first seed (default: 1)
  --seed N        run this seed alone
  --profile NAME  only these faults; may be given again: ${faultProfileNames.join(', ')}
  --workers N     threads (default: one a core)
  --help

Exit code: 0 no rule broken, 1 a rule was broken, 2 bad options.`;

interface Asked {
  readonly help: boolean;
  readonly runs: number;
  readonly from: number;
  readonly seed: number | undefined;
  readonly profiles: readonly FaultProfile[];
  readonly workers: number | undefined;
}

/** The options of a command line, or what is wrong with them in one sentence. */
function readOptions(words: readonly string[]): Asked | string {
  let values: Readonly<Record<string, string | string[] | boolean | undefined>>;
  try {
    ({ values } = parseArgs({
      args: [...words],
      options: {
        runs: { type: 'string' },
        seed: { type: 'string' },
        from: { type: 'string' },
        profile: { type: 'string', multiple: true },
        workers: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\n|\. /);
    return `${sentence}; --help lists the options`;
  }
  const wrong: string[] = [];
  const whole = (name: string, least: number): number | undefined => {
    const text = values[name];
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least && text !== '') return value;
    wrong.push(`--${name} must be a whole number of at least ${least}, not '${String(text)}'`);
    return undefined;
  };
  const profiles = (values['profile'] ?? faultProfileNames) as readonly FaultProfile[];
  for (const name of profiles)
    if (!faultProfileNames.includes(name))
      wrong.push(`no profile is called '${name}'; there are ${faultProfileNames.join(', ')}`);
  const asked = {
    help: values['help'] === true,
    runs: whole('runs', 1) ?? 100_000,
    from: whole('from', 0) ?? 1,
    seed: whole('seed', 0),
    profiles,
    workers: whole('workers', 1),
  };
  return wrong[0] ?? asked;
}

async function main(): Promise<number> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const [first, ...texts] = process.argv.slice(2);
  if (first !== undefined && !first.startsWith('-')) {
    const { runSoakTest, soakTests } = await import('./soak-tests.ts');
    const test = soakTests.get(first);
    if (test !== undefined) return await runSoakTest(test, texts, say);
  }
  const asked = readOptions(process.argv.slice(2));
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n`);
    return 2;
  }
  const { runs, from, seed, profiles, workers } = asked;
  if (asked.help) {
    say(help((await import('./soak-tests.ts')).soakHelp));
    return 0;
  }
  if (seed !== undefined) {
    const results = await Promise.all(profiles.map((profile) => runSeed({ seed, profile, planner: plan })));
    for (const result of results) say(JSON.stringify(result, undefined, 2));
    return results.some((result) => result.violations.length > 0) ? 1 : 0;
  }
  const start = performance.now();
  let told = 0;
  const tally = await soak({
    runs,
    from,
    profiles,
    ...(workers === undefined ? {} : { workers }),
    onProgress: (done, total) => {
      if (done < told) return;
      told += total / 20;
      say(`${done} of ${total} runs after ${((performance.now() - start) / 1000).toFixed(0)} s`);
    },
  });
  for (const line of tallyLines(tally)) say(line);
  return tally.failures.length > 0 ? 1 : 0;
}

if (!isMainThread) {
  parentPort?.on('message', (jobs: readonly Job[]) => {
    void (async () => {
      const results: SeedResult[] = [];
      for (const job of jobs) results.push(await runSeed({ ...job, planner: plan }));
      parentPort?.postMessage(results, []);
    })();
  });
} else if (import.meta.main) {
  process.exitCode = await main();
}
