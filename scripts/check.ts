/** Types, lint, regular expressions, format and dead code: `npm run check`. Part of `npm test`. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findTestFiles } from './test-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Check {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

interface Outcome {
  readonly ok: boolean;
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

function runTool([tool, ...args]: readonly [string, ...string[]]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${tool}`, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ ok: false, output: `${tool}: ${error.message}` }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

if (import.meta.main) {
  for (const { name, run } of checks) {
    const { ok, output } = await run();
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}\n${ok ? '' : output}`);
    if (!ok) process.exitCode = 1;
  }
}
