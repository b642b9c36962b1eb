// needs: ray-client

/**
 * A Python that has Ray, for tests and benchmarks that stand Manta beside it: `node scripts/ray-venv.ts [VERSION]`
 * makes a virtual environment in the user's cache folder when there is none, and prints the path of its Python.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { rayVersion } from '../src/core/ray-version.ts';

export { olderRayVersion, rayVersion } from '../src/core/ray-version.ts';

const proof = 'import ray.autoscaler.v2.scheduler, ray, aiohttp, pydantic, requests, yaml; print(ray.__version__)';

/**
 * Path of a Python with this Ray: one of those that `MANTA_RAY_PYTHON` names, parted by `:`, or the cached one.
 * Installing takes a minute; `say` is told what happens. Throws when Ray cannot be installed.
 */
export async function ensureRay(version: string = rayVersion, say: (line: string) => void = toStderr): Promise<string> {
  for (const given of (process.env['MANTA_RAY_PYTHON'] ?? '').split(':'))
    if (given !== '' && (await hasRay(given, version))) return given;
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'manta', `ray-${version}`);
  const python = join(folder, 'bin', 'python');
  if (existsSync(python) && (await hasRay(python, version))) return python;

  say(`installing Ray ${version} into ${folder}`);
  // In its place from the start, because the programs of an environment name it by path. What was cut short does not load.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(cache, 'manta'), { recursive: true });
  await run(await findPython(), ['-m', 'venv', folder]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `ray[default]==${version}`]);
  if (!(await hasRay(python, version)))
    throw new Error(`Ray ${version} was installed into ${folder} and does not load`);
  return python;
}

/** The first Python for which Ray has wheels. */
async function findPython(): Promise<string> {
  for (const name of ['python3.11', 'python3.12', 'python3.10', 'python3.13', 'python3']) {
    const found = await capture(name, ['-c', 'import sys, venv; print(sys.version_info >= (3, 10))']);
    if (found?.trim() === 'True') return name;
  }
  throw new Error('Ray needs a Python 3.10 or newer with the venv module');
}

async function hasRay(python: string, version: string): Promise<boolean> {
  const found = await capture(python, ['-c', proof]);
  return found?.trim().split('\n').at(-1) === version;
}

/** What a command prints, or undefined when it fails. */
function capture(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => resolve(code === 0 ? output : undefined));
  });
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`'${command} ${args.join(' ')}' failed:\n${errors.trim()}`)),
    );
  });
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (import.meta.main) process.stdout.write(`${await ensureRay(process.argv[2] ?? rayVersion)}\n`);
