export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skip[];
}

export interface Skip {
  readonly name: string;
  readonly reason: string;
}

/** A check, a test file or the simulation. */
export interface TestJob {
  readonly name: string;
  /** Takes every core by itself. */
  readonly alone?: boolean;
  readonly run: (say: (line: string) => void) => Promise<Tally>;
}

interface Done {
  readonly name: string;
  readonly seconds: number;
  readonly tally: Tally;
}

const atOnce = 2;
const slowestShown = 10;

/** Runs them in their order, two at a time, and says how far it is. Ends with those that took longest. */
export async function runTestJobs(jobs: readonly TestJob[], say: (line: string) => void): Promise<Tally> {
  const done: Done[] = [];
  const runOne = async ({ name, run }: TestJob): Promise<void> => {
    const start = performance.now();
    const tally = await run(say);
    const seconds = (performance.now() - start) / 1000;
    done.push({ name, seconds, tally });
    const counts = `${tally.passed} passed, ${seconds.toFixed(1)} s`;
    say(`[${done.length}/${jobs.length}] ${tally.failed > 0 ? 'FAIL' : 'ok'}  ${name} (${counts})`);
  };
  const running = new Set<Promise<void>>();
  for (const job of jobs) {
    while (running.size >= (job.alone ? 1 : atOnce)) await Promise.race(running);
    const ending = runOne(job).finally(() => running.delete(ending));
    running.add(ending);
    if (job.alone) await ending;
  }
  await Promise.all(running);
  saySlowest(done, say);
  return sum(done.map(({ tally }) => tally));
}

function saySlowest(done: readonly Done[], say: (line: string) => void): void {
  if (done.length <= 1) return;
  const slowest = [...done].sort((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  say(
    `the slowest:${slowest.map(({ name, seconds }) => `\n      ${seconds.toFixed(1).padStart(6)} s  ${name}`).join('')}`,
  );
}

const sum = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((total, { passed }) => total + passed, 0),
  failed: tallies.reduce((total, { failed }) => total + failed, 0),
  skipped: tallies.flatMap(({ skipped }) => skipped),
});
