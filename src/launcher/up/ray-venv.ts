import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { EventSink } from '../../base/events.ts';
import { syncAll, syncTree } from '../../base/files/durable.ts';
import { makeFolder, readJson, writeJson } from '../../base/files/json-file.ts';
import { takeLock } from '../../base/files/lock.ts';
import { rayVersion, untested } from '../../core/ray-version.ts';
import type { RayPython } from '../../state/cluster-record.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';

/** Installers say more than anybody reads. */
const sayEvery = 3_000;

export interface RaySearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where Manta's own environments are: `<home>/ray/<version>`. */
  readonly home: string;
  readonly events: EventSink;
  readonly signal: AbortSignal;
}

/** Has what jobs need too: the dashboard and its agents are an extra of Ray's. */
const proof = 'import ray, aiohttp, pydantic, requests, grpc; print("ray", ray.__version__)';

/**
 * A Python that has Ray: the one that `MANTA_RAY_PYTHON` names; the one of the `ray` on the PATH, when its version is one
 * that Manta is tested with; Manta's own. Undefined where there is none.
 */
export async function findRay(search: RaySearch): Promise<RayPython | undefined> {
  const { env, events, signal } = search;
  for (const path of (env['MANTA_RAY_PYTHON'] ?? '').split(delimiter).filter(Boolean)) {
    const version = await rayOf(path, search);
    if ('detail' in version) throw launcherErrors.VenvNotRay({ python: path, detail: version.detail });
    return { path, version: version.ray };
  }
  const onPath = pythonOfRay(env['PATH'] ?? '');
  if (onPath !== undefined) {
    const version = await rayOf(onPath, search);
    signal.throwIfAborted();
    const range = 'ray' in version ? untested(version.ray) : undefined;
    if ('ray' in version && range === undefined) return { path: onPath, version: version.ray };
    const why = range
      ? `its version is ${range.version}, and Manta is tested with ${range.oldest} to ${range.newest}; set MANTA_RAY_PYTHON=${onPath} to use it anyway`
      : (version as { detail: string }).detail;
    events.emit(launcherEvents.venvPassedOver, { python: onPath, why });
  }
  const { python, whole } = venvOf(search.home, rayVersion);
  return readJson(whole) !== undefined && existsSync(python) ? { path: python, version: rayVersion } : undefined;
}

/**
 * Installs Ray into an environment of Manta's own, with uv or with Python's own tools. One that was cut short is never
 * used: it lacks the file that is written last, and is recreated.
 */
export async function makeRay(search: RaySearch): Promise<RayPython> {
  const { home, events, signal } = search;
  const version = rayVersion;
  const { folder, python, whole } = venvOf(home, version);
  makeFolder(dirname(folder));
  const taken = takeLock(`${folder}.lock`);
  if ('holder' in taken) throw launcherErrors.VenvBusy({ folder, pid: taken.holder.pid });
  const began = performance.now();
  const step = (words: string): void =>
    events.emit(launcherEvents.venvMaking, { version, folder, step: words }, { id: 'ray-venv', state: 'running' });
  let heardAt = Number.NEGATIVE_INFINITY;
  const hear = (words: string): void => {
    if (performance.now() - heardAt < sayEvery) return;
    heardAt = performance.now();
    step(words);
  };
  try {
    rmSync(folder, { recursive: true, force: true });
    const wanted = `ray[default]==${version}`;
    const made = async (program: string, ...args: string[]): Promise<void> => {
      const { code, said } = await follow(program, args, { ...search, line: hear });
      if (code !== 0)
        throw launcherErrors.VenvNotMade({ folder, command: [program, ...args].join(' '), detail: lastOf(said) });
    };
    step('creating a virtual environment');
    if (await works('uv', ['--version'], search)) {
      await made('uv', 'venv', '--python', '>=3.10,<3.14', folder);
      await made('uv', 'pip', 'install', '--python', python, wanted);
    } else {
      await made(await usablePython(search), '-m', 'venv', folder);
      await made(python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', wanted);
    }
    step('checking that it loads');
    const loads = await rayOf(python, search);
    if ('detail' in loads) throw launcherErrors.VenvNotMade({ folder, command: 'import ray', detail: loads.detail });
    // A power cut must not leave the file that says it is whole, and empty modules.
    await syncTree(folder);
    await syncAll([dirname(folder)]);
    writeJson(whole, { version, python });
    const seconds = Math.round((performance.now() - began) / 1_000);
    events.emit(launcherEvents.venvMade, { version, folder, seconds }, { id: 'ray-venv', state: 'done' });
    return { path: python, version };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    signal.throwIfAborted();
    throw error;
  } finally {
    taken.lock.release();
  }
}

function venvOf(home: string, version: string): { folder: string; python: string; whole: string } {
  const folder = join(home, 'ray', version);
  return { folder, python: join(folder, 'bin', 'python'), whole: join(folder, 'manta.json') };
}

/** The Python behind the first `ray` of the PATH that has one. */
function pythonOfRay(path: string): string | undefined {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const python = isProgram(join(folder, 'ray')) ? pythonBehind(join(folder, 'ray')) : undefined;
    if (python !== undefined) return python;
  }
  return undefined;
}

/** Undefined for what is not a Python program, such as the `ray` of `manta shim`. */
function pythonBehind(ray: string): string | undefined {
  // By its first lines; the one beside it where they do not say.
  const [first = '', second = ''] = beginningOf(ray).split('\n');
  // A path that is too long, or has a space in it, is called by a shell: "'''exec' /path/python "$0" "$@"".
  const named = /^#!\s*(\/\S*python[\d.]*)\s*$/.exec(first)?.[1] ?? /^'''exec' "?([^"]+?)"? "\$0"/.exec(second)?.[1];
  return [named, join(dirname(ray), 'python3'), join(dirname(ray), 'python')].find(
    (each) => each !== undefined && isProgram(each),
  );
}

/** The first Python that can make an environment for Ray. */
async function usablePython(search: RaySearch): Promise<string> {
  const asked = 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info < (3, 14))';
  for (const name of ['python3', 'python3.12', 'python3.11', 'python3.13', 'python3.10', 'python'])
    if (await works(name, ['-c', asked], search)) return name;
  throw launcherErrors.VenvNoPython({ version: rayVersion });
}

async function rayOf(python: string, search: RaySearch): Promise<{ ray: string } | { detail: string }> {
  const { code, said } = await follow(python, ['-c', proof], search);
  search.signal.throwIfAborted();
  const version = /^ray (\S+)$/m.exec(said)?.[1];
  return code === 0 && version !== undefined ? { ray: version } : { detail: lastOf(said) };
}

const works = async (program: string, args: readonly string[], search: RaySearch): Promise<boolean> =>
  (await follow(program, args, search)).code === 0;

/** Runs a program to its end; `line` hears what it says meanwhile. */
function follow(
  program: string,
  args: readonly string[],
  { env, signal, line }: Pick<RaySearch, 'env' | 'signal'> & { readonly line?: (text: string) => void },
): Promise<{ readonly code: number; readonly said: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; said: string }>();
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      said = `${said}${bytes.toString()}`.slice(-20_000);
      const last = bytes
        .toString()
        .trim()
        .split(/[\r\n]+/)
        .at(-1)
        ?.trim();
      if (last) line?.(last.slice(0, 120));
    });
  child.on('error', (error) => resolve({ code: -1, said: error.message }));
  child.on('close', (code) => resolve({ code: code ?? -1, said }));
  return promise;
}

const lastOf = (said: string): string => said.trim().split('\n').at(-1)?.trim() || 'no output';

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function beginningOf(file: string): string {
  return readFileSync(file).subarray(0, 1_000).toString('latin1');
}
