/** Types, lint, format and dead code: `npm run check`. Part of `npm test`. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));

const checks: readonly { readonly name: string; readonly command: readonly [string, ...string[]] }[] = [
  { name: 'types (tsc)', command: ['tsc', '-p', '.'] },
  { name: 'types of the page (tsc)', command: ['tsc', '-p', 'src/web'] },
  { name: 'lint (oxlint)', command: ['oxlint', '--type-aware', '--deny-warnings', '.'] },
  { name: 'format (biome)', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'dead code (knip)', command: ['knip', '--no-progress'] },
  {
    name: 'code that only tests reach (knip)',
    command: ['knip', '--production', '--config', 'knip.production.json', '--no-progress'],
  },
];

export async function runChecks(told: (result: CheckResult) => void): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, command } of checks) {
    const result = { name, ...(await runTool(command)) };
    told(result);
    results.push(result);
  }
  return results;
}

function runTool([tool, ...args]: readonly [string, ...string[]]): Promise<{ ok: boolean; output: string }> {
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
  const results = await runChecks(({ name, ok, output }) => {
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}\n${ok ? '' : output}`);
  });
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
}
