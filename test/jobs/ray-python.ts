import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A Python that has Ray: `MANTA_RAY_PYTHON`, or the one in the user's cache. */
export function rayPython(): { python: string; ray: string } | { missing: string } {
  const places = [process.env['MANTA_RAY_PYTHON'], join(homedir(), '.cache/manta/ray-2.60.0/bin/python')];
  const python = places.find((place) => place !== undefined && existsSync(place));
  if (python === undefined)
    return {
      missing:
        'no Python with Ray: set MANTA_RAY_PYTHON, or make a venv with ray[default] in ~/.cache/manta/ray-2.60.0',
    };
  const ray = join(python, '..', 'ray');
  return existsSync(ray) ? { python, ray } : { missing: `${python} has no 'ray' beside it` };
}

/** Runs a piece of Python and returns what it prints. */
export function runPython(python: string, code: string, args: readonly string[] = []): string {
  return execFileSync(python, ['-c', code, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, RAY_AUTH_MODE: 'disabled' },
  }).trim();
}
