import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installComponents } from './components.ts';
import { describeTestFile } from './test-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const beds = ['embedded', 'pool', 'cloud'];

/** Plays scaling scenarios on every bed, one bed after the other; 1 when one came out otherwise than it must. */
export async function soakScaling(texts: readonly string[], say: (line: string) => void): Promise<number> {
  const env = { ...process.env, MANTA_SCENARIOS: texts.length === 0 ? 'all' : texts.join('|') };
  let failed = 0;
  for (const bed of beds) if (!(await passes(`test/lab/scaling-${bed}.test.ts`, env, say))) failed++;
  return failed > 0 ? 1 : 0;
}

/** Kills mantad while it scales real Ray and runs jobs, that many times; 1 when something was lost or made twice. */
export async function soakKills(rounds: string, say: (line: string) => void): Promise<number> {
  const env = { ...process.env, MANTA_KILL_ROUNDS: rounds };
  return (await passes('test/lab/scaling-kills.test.ts', env, say)) ? 0 : 1;
}

async function passes(file: string, env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<boolean> {
  await installComponents(new Set(describeTestFile(join(root, file)).needs), say);
  const code = await new Promise<number>((resolve, reject) => {
    const playing = spawn(process.execPath, ['--test', file], { cwd: root, env, stdio: 'inherit' });
    playing.on('error', reject);
    playing.on('close', (exit) => resolve(exit ?? 1));
  });
  say(code === 0 ? `ok    ${file}` : `FAIL  ${file}`);
  return code === 0;
}
