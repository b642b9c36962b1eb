import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What Ray's own parser made of a command line. */
export type RayReading =
  | {
      readonly kind: 'run';
      readonly path: readonly string[];
      /** Those that were typed, by Ray's names for them. */
      readonly args: readonly (readonly [string, string | readonly string[]])[];
      readonly options: readonly (readonly [string, string | number | boolean | readonly (string | number)[]])[];
    }
  | { readonly kind: 'help' | 'version' }
  | {
      readonly kind: 'refused';
      readonly path: readonly string[];
      /** Name of click's exception. */
      readonly error: string;
      readonly option: string | null;
      readonly message: string;
    };

const program = fileURLToPath(new URL('ray-parser.py', import.meta.url));

/** Asks the `ray` of this Python how it reads each list of words, kept for the next run. Runs no command. */
export function readAsRay(python: string, lines: readonly (readonly string[])[]): RayReading[] {
  const input = `${lines.map((words) => JSON.stringify(words)).join('\n')}\n`;
  const key = createHash('sha256').update(readFileSync(program)).update(python).update(input).digest('hex');
  const kept = join(tmpdir(), `manta-ray-lines-${key.slice(0, 24)}.jsonl`);
  if (!existsSync(kept)) {
    const env = { ...process.env, RAY_AUTH_MODE: 'disabled' };
    const output = execFileSync(python, [program], { input, encoding: 'utf8', maxBuffer: 1 << 28, env });
    writeFileSync(`${kept}.${process.pid}`, output, { mode: 0o600 });
    renameSync(`${kept}.${process.pid}`, kept);
  }
  const answers = readFileSync(kept, 'utf8').trim().split('\n');
  return answers.map((line) => JSON.parse(line) as RayReading);
}
