// needs: ray-client

/**
 * A Python that has Ray, for tests and benchmarks that stand Manta beside it: `node scripts/ray-venv.ts [VERSION]`
 * makes a virtual environment in the user's cache folder when there is none, and prints the path of its Python.
 */
import { rayVersion } from '../src/core/ray-version.ts';
import { capture, ensureVenv } from './python-venv.ts';

export { olderRayVersion, rayVersion } from '../src/core/ray-version.ts';

const proof =
  'import ray.autoscaler.v2.scheduler, ray.serve, ray, aiohttp, pydantic, requests, yaml; print(ray.__version__)';

/** Folder of a Ray in the user's cache folder. */
export const rayVenvName = (version: string): string => `ray-serve-${version}`;

/**
 * Path of a Python with this Ray: one of those that `MANTA_RAY_PYTHON` names, parted by `:`, or the cached one.
 * Installing takes a minute; `say` is told what happens. Throws when Ray cannot be installed.
 */
export async function ensureRay(version: string = rayVersion, say: (line: string) => void = toStderr): Promise<string> {
  for (const given of (process.env['MANTA_RAY_PYTHON'] ?? '').split(':'))
    if (given !== '' && (await hasRay(given, version))) return given;
  return ensureVenv(
    {
      name: rayVenvName(version),
      requirements: [`ray[default,serve]==${version}`],
      works: (python) => hasRay(python, version),
    },
    say,
  );
}

async function hasRay(python: string, version: string): Promise<boolean> {
  const found = await capture(python, ['-c', proof]);
  return found?.trim().split('\n').at(-1) === version;
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (import.meta.main) process.stdout.write(`${await ensureRay(process.argv[2] ?? rayVersion)}\n`);
