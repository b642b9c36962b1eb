// needs: ray-client

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { rayVersion } from '../../scripts/ray-venv.ts';

export interface RayPython {
  readonly python: string;
  readonly version: string;
}

/** Arguments that make Python Ray's command line; a venv that was moved has a `ray` that does not start. */
export const rayCommand = ['-c', 'from ray.scripts.scripts import main; main()'] as const;

/** Pythons that have Ray, newest Ray first: those of `MANTA_RAY_PYTHON` (separated by `:`) and of the user's cache. */
export function rayPythons(): readonly RayPython[] {
  found ??= findPythons();
  return found;
}

let found: readonly RayPython[] | undefined;

function findPythons(): readonly RayPython[] {
  const cache = join(homedir(), '.cache/manta');
  const cached = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('ray-')) : [];
  const places = [
    ...(process.env['MANTA_RAY_PYTHON'] ?? '').split(':'),
    ...cached.map((name) => join(cache, name, 'bin/python')),
  ];
  const all = places
    .filter((python) => python !== '' && existsSync(python))
    .map((python) => ({ python, version: versionOf(python) }))
    .filter(({ version }) => version !== '')
    .sort((a, b) => (a.version < b.version ? 1 : -1));
  return all.filter(({ version }, at) => all.findIndex((each) => each.version === version) === at);
}

/** What an environment says that it holds is believed: importing Ray takes seconds. */
function versionOf(python: string): string {
  const [record] = globSync('lib/python3.*/site-packages/ray-*.dist-info/RECORD', { cwd: dirname(dirname(python)) });
  const installed = /\/ray-([\d.]+)\.dist-info/.exec(record ?? '')?.[1];
  if (installed !== undefined) return installed;
  try {
    return runPython(python, 'import ray, aiohttp, pydantic, requests; print(ray.__version__)');
  } catch {
    return '';
  }
}

/**
 * The Ray whose clients a test is to use: the newest that Manta is held to. Tests of it are run with another one by a file
 * that sets `MANTA_TEST_RAY` before it loads them.
 */
export const clientVersion = process.env['MANTA_TEST_RAY'] ?? rayVersion;

export const noRay = "no Python with Ray: 'node scripts/ray-venv.ts' makes one, or set MANTA_RAY_PYTHON";

/** A Python of the Ray whose clients are to be used. */
export function rayPython(): RayPython | { missing: string } {
  return rayPythons().find(({ version }) => version === clientVersion) ?? { missing: `${noRay} (${clientVersion})` };
}

/** Runs a piece of Python and returns what it prints. */
export function runPython(python: string, code: string, args: readonly string[] = []): string {
  return execFileSync(python, ['-c', code, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, RAY_AUTH_MODE: 'disabled' },
  }).trim();
}
