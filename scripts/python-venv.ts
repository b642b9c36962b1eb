/** Virtual environments for Python programs that tests stand Manta beside, in the user's cache folder. */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Venv {
  /** Of its folder; carries the version. */
  readonly name: string;
  /** As pip takes them, the main one first. */
  readonly requirements: readonly [string, ...string[]];
  /** Whether this Python has what was asked for. */
  readonly works: (python: string) => Promise<boolean>;
}

/** Path of the environment's Python; makes the environment when there is none that works. `say` is told what happens. */
export async function ensureVenv({ name, requirements, works }: Venv, say: (line: string) => void): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'manta', name);
  const python = join(folder, 'bin', 'python');
  if (existsSync(python) && (await works(python))) return python;

  const [main] = requirements;
  say(`installing ${main} into ${folder}`);
  // In its place from the start, because the programs of an environment name it by path. What was cut short does not load.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  await run(await findPython(), ['-m', 'venv', folder]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements]);
  if (!(await works(python))) throw new Error(`${main} was installed into ${folder} and does not load`);
  return python;
}

/** Folder of the packages of an environment. */
export function packagesOf(python: string): string {
  const venv = dirname(dirname(python));
  return join(venv, globSync('lib/python3.*/site-packages', { cwd: venv })[0]!);
}

/** The first Python for which there are wheels. */
async function findPython(): Promise<string> {
  for (const name of ['python3.11', 'python3.12', 'python3.10', 'python3.13', 'python3']) {
    const found = await capture(name, ['-c', 'import sys, venv; print(sys.version_info >= (3, 10))']);
    if (found?.trim() === 'True') return name;
  }
  throw new Error('a Python 3.10 or newer with the venv module is needed');
}

/** What a command prints, or undefined when it fails. */
export function capture(command: string, args: readonly string[]): Promise<string | undefined> {
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
