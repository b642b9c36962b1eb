/** How long `manta --help` takes from the shipped bundle, beside a bare `node -e 0` in the same run. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measurement } from '../scripts/bench.ts';
import { buildBundle } from '../scripts/build.ts';

const rounds = 40;
const root = fileURLToPath(new URL('..', import.meta.url));

export async function run(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-startup-'));
  try {
    await buildBundle(join(folder, 'dist'));
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    const manta = [join(folder, 'bin', 'manta'), '--help'];
    const bare = ['-e', '0'];
    const times = { manta: [] as number[], bare: [] as number[] };
    // Taken in turns, so that whatever else the machine does weighs on both alike.
    for (let round = 0; round < rounds; round++) {
      times.bare.push(timed(bare));
      times.manta.push(timed(manta));
    }
    const [ours, theirs] = [median(times.manta), median(times.bare)];
    return [
      {
        name: 'start-up: `manta --help` against `node -e 0`',
        ours: `${ours.toFixed(1)} ms`,
        theirs: `${theirs.toFixed(1)} ms`,
        ratio: ours / theirs,
        goal: 'at most 2',
        reached: ours / theirs <= 2,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function timed(args: readonly string[]): number {
  const begin = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} exited with ${status}`);
  return performance.now() - begin;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
