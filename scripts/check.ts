/** Types, lint, regular expressions, shell programs, format and dead code: `npm run check`. Part of `npm test`. */
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findTestFiles } from './test-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Check {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

interface Outcome {
  readonly ok: boolean;
  /** Why it did not run: a program is missing on this machine. `npm test`, which installs it, takes that for a failure. */
  readonly missing?: string;
  readonly output: string;
}

const tool = (name: string, ...command: readonly [string, ...string[]]): Check => ({
  name,
  run: () => runTool(command),
});

export const checks: readonly Check[] = [
  tool('types (tsc)', 'tsc', '-p', '.'),
  tool('types of the page (tsc)', 'tsc', '-p', 'src/web'),
  tool('lint (oxlint)', 'oxlint', '--type-aware', '--deny-warnings', '.'),
  tool('regular expressions (recheck)', 'node', 'scripts/expressions.ts'),
  { name: 'shell programs (shellcheck)', run: checkShell },
  tool('format (biome)', 'biome', 'check', '--error-on-warnings', '.'),
  tool('dead code (knip)', 'knip', '--no-progress'),
  tool(
    'code that only tests reach (knip)',
    'knip',
    '--production',
    '--config',
    'knip.production.json',
    '--no-progress',
  ),
  { name: 'needs of test files', run: async () => checkNeeds() },
];

function checkNeeds(): Outcome {
  const { problems } = findTestFiles();
  return { ok: problems.length === 0, output: problems.map((problem) => `${problem}\n`).join('') };
}

/** `.sh` must be POSIX; the name of a `.bash` file tells shellcheck what it is. */
async function checkShell(): Promise<Outcome> {
  if (spawnSync('shellcheck', ['--version']).error !== undefined)
    return { ok: false, output: '', missing: "shellcheck is missing: run 'apt-get install shellcheck'" };
  const posix = globSync('{src,lab}/**/*.sh', { cwd: root });
  const bash = globSync('{src,lab}/**/*.bash', { cwd: root });
  const outcomes = [await run('shellcheck', ['--shell=sh', ...posix])];
  if (bash.length > 0) outcomes.push(await run('shellcheck', ['--shell=bash', ...bash]));
  return { ok: outcomes.every(({ ok }) => ok), output: outcomes.map(({ output }) => output).join('') };
}

const runTool = ([tool, ...args]: readonly [string, ...string[]]): Promise<Outcome> =>
  run(`node_modules/.bin/${tool}`, args);

function run(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ ok: false, output: `${program}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

if (import.meta.main) {
  for (const { name, run } of checks) {
    const { ok, output, missing } = await run();
    if (missing === undefined) process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}\n${ok ? '' : output}`);
    else process.stdout.write(`skip ${name}: ${missing}\n`);
    if (!ok && missing === undefined) process.exitCode = 1;
  }
}
