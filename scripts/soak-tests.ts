/** Test files that have more to do than a test run takes time for, and what `npm run soak -- NAME` makes of them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installComponents } from './components.ts';
import { describeTestFile } from './test-needs.ts';

interface SoakTest {
  /** What may follow its name. */
  readonly takes?: string;
  readonly does: string;
  readonly files: readonly string[];
  /** What tells the files to do all they can. */
  readonly env: (words: readonly string[]) => NodeJS.ProcessEnv;
}

const rounds =
  (name: string, usual: number) =>
  ([given = String(usual)]: readonly string[]): NodeJS.ProcessEnv => ({ [name]: given });

/** Tests that only repeat what others prove; their files ask `inSoak` for the name. */
const repeats = (file: string, does: string): readonly [string, SoakTest] => {
  const name = /([^/]+)\.test\.ts$/.exec(file)![1]!;
  return [name, { does, files: [file], env: () => ({ MANTA_SOAK: name }) }];
};

export const soakTests: ReadonlyMap<string, SoakTest> = new Map([
  [
    'scaling',
    {
      takes: '[TEXT...]',
      does: 'every scaling scenario on every bed (docs/scaling-scenarios.md), or those with TEXT in their name',
      files: ['embedded', 'pool', 'cloud'].map((bed) => `test/lab/scaling-${bed}.test.ts`),
      env: (texts) => ({ MANTA_SCENARIOS: texts.length === 0 ? 'all' : texts.join('|') }),
    },
  ],
  [
    'kills',
    {
      takes: '[ROUNDS]',
      does: 'kills mantad while it scales real Ray (default: 20 times)',
      files: ['test/lab/scaling-kills.test.ts'],
      env: rounds('MANTA_KILL_ROUNDS', 20),
    },
  ],
  [
    'kill-mantad',
    {
      takes: '[KILLS]',
      does: 'kills mantad of an embedded cluster, ten jobs for each kill (default: 20)',
      files: ['test/head/kill-mantad.test.ts'],
      env: rounds('MANTA_KILLS', 20),
    },
  ],
  [
    'lifecycle',
    {
      takes: '[ROUNDS]',
      does: 'kills `up` and `down` on their way (default: 12 times)',
      files: ['test/head/lifecycle.test.ts'],
      env: rounds('MANTA_LIFECYCLE_ROUNDS', 12),
    },
  ],
  [
    'planner',
    {
      takes: '[REQUESTS]',
      does: "random requests to Ray's own planner and Manta's (default: 20000)",
      files: ['test/core/plan/ray-differential.test.ts'],
      env: rounds('MANTA_REQUESTS', 20_000),
    },
  ],
  repeats('test/lab/cluster-nine.test.ts', 'eight workers in place of four, and every use of a cluster on them'),
  repeats('test/lab/cluster-podman.test.ts', 'three workers in containers, one of which loses its power'),
  repeats('test/lab/cloud-turn-off.test.ts', 'a cluster that ended by itself is made again'),
  [
    'kube',
    {
      does: 'RayJobs in every mode, RayCronJobs, lost nodes and killed parts of Kubernetes',
      files: ['kube-jobs', 'kube-faults'].map((name) => `test/lab/${name}.test.ts`),
      env: () => ({ MANTA_SOAK: 'kube' }),
    },
  ],
  [
    'clouds',
    {
      does: 'published cluster files for clouds, and clusters that lose machines, on lab hosts',
      files: ['aws-files', 'aws-soak', 'google-files', 'google-slice-files'].map((name) => `test/lab/${name}.test.ts`),
      env: () => ({ MANTA_SOAK: 'clouds' }),
    },
  ],
]);

export const soakHelp = [...soakTests].map(([name, { takes = '', does }]) => {
  const command = `  npm run soak -- ${`${name} ${takes}`.trimEnd()}`;
  return `${command.padEnd(51)} ${does}`;
});

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs one by its name; 1 when a test of it fails. */
export async function runSoakTest(
  test: SoakTest,
  words: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const needs = test.files.flatMap((file) => describeTestFile(join(root, file)).needs);
  await installComponents(new Set(needs), say);
  let failed = 0;
  for (const file of test.files) {
    const passes = await runFile(file, { ...process.env, ...test.env(words) });
    say(passes ? `ok    ${file}` : `FAIL  ${file}`);
    if (!passes) failed++;
  }
  return failed > 0 ? 1 : 0;
}

function runFile(file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, ['--test', file], { cwd: root, env, stdio: 'inherit' });
    running.on('error', reject);
    running.on('close', (code) => resolve(code === 0));
  });
}
