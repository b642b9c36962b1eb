import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../base/errors.ts';
import { makeFolder } from '../../../base/files/durable.ts';
import { takeLock } from '../../../base/files/lock.ts';
import type { Instant } from '../../../base/time/clock.ts';
import type { SetupStep } from '../../runner.ts';
import { embeddedErrors } from '../errors.ts';
import {
  isReady,
  lockOf,
  markReady,
  pruneEnvironments,
  touchEnvironment,
  useEnvironment,
} from './environment-cache.ts';

/** Runs a program of the setup with its output in the log of the setup; resolves with its output when it ends well. */
export type RunStep = (program: string, args: readonly string[], cwd: string) => Promise<string>;

export interface Setup {
  /** Where built environments are kept for all attempts of the cluster. */
  readonly cache: string;
  /** The attempt, by a word of its own; it keeps what it uses until it lets go of it. */
  readonly user: string;
  readonly now: () => Instant;
  readonly run: RunStep;
  readonly signal: AbortSignal;
}

/** Variables that the steps add to an attempt's environment. Throws SetupFailed. */
export async function setUp(
  steps: readonly SetupStep[],
  base: Readonly<Record<string, string | undefined>>,
  setup: Setup,
): Promise<Record<string, string>> {
  const added: Record<string, string> = {};
  for (const step of steps) {
    if (step.kind === 'python-path') {
      const before = added.PYTHONPATH ?? base.PYTHONPATH;
      added.PYTHONPATH = before ? `${step.path}:${before}` : (step.path ?? '');
    } else if (step.kind !== 'remote' && step.packages && step.packages.length > 0) {
      const folder = await pythonEnvironment(step.kind, step.packages, step.check === true, setup);
      added.VIRTUAL_ENV = folder;
      added.PATH = `${join(folder, 'bin')}:${added.PATH ?? base.PATH ?? ''}`;
    }
  }
  return added;
}

/** A virtual environment with these packages, built once per content and shared by every attempt that asks for it. */
async function pythonEnvironment(
  kind: 'pip' | 'uv',
  packages: readonly string[],
  check: boolean,
  setup: Setup,
): Promise<string> {
  const python = await findPython(kind, setup);
  const content = JSON.stringify([kind, python, packages, ...(check ? ['check'] : [])]);
  const name = createHash('sha256').update(content).digest('hex').slice(0, 24);
  const folder = join(makeFolder(setup.cache), name);
  // Before it is looked for: what somebody uses stays, and what goes in this very moment is built again.
  useEnvironment(setup.cache, name, setup.user);
  while (!isReady(folder)) {
    setup.signal.throwIfAborted();
    const taken = takeLock(lockOf(folder));
    if (!('lock' in taken)) {
      await sleep(100, undefined, { signal: setup.signal });
      continue;
    }
    try {
      if (isReady(folder)) break;
      rmSync(folder, { recursive: true, force: true });
      await build(kind, folder, packages, check, setup);
      await markReady(folder, content);
    } finally {
      taken.lock.release();
    }
    // Room is not what this attempt needs: the next one tries again.
    await pruneEnvironments(setup.cache, setup.now()).catch(() => {});
  }
  touchEnvironment(folder, setup.now());
  return folder;
}

async function findPython(kind: 'pip' | 'uv', { run, cache }: Setup): Promise<string> {
  const version = 'import sys; print(sys.executable, sys.version)';
  const python = await run('python3', ['-c', version], makeFolder(cache)).catch((error: unknown) => {
    throw embeddedErrors.SetupFailed({ step: kind, problem: 'no working python3 on PATH' }, error);
  });
  if (kind === 'uv')
    await run('uv', ['--version'], cache).catch((error: unknown) => {
      throw embeddedErrors.SetupFailed({ step: kind, problem: 'uv is not on PATH' }, error);
    });
  return python.trim();
}

async function build(
  kind: 'pip' | 'uv',
  folder: string,
  packages: readonly string[],
  check: boolean,
  { run }: Setup,
): Promise<void> {
  // A requirements file, not arguments: an entry may carry options of its own and must not become one of ours.
  makeFolder(folder);
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, `${packages.join('\n')}\n`, { mode: 0o600 });
  const python = join(folder, 'bin', 'python');
  const steps: readonly (readonly [string, ...string[]])[] =
    kind === 'uv'
      ? [
          ['uv', 'venv', '--allow-existing', '--system-site-packages', folder],
          ['uv', 'pip', 'install', '--python', python, '-r', requirements],
          ...(check ? [['uv', 'pip', 'check', '--python', python] as const] : []),
        ]
      : [
          ['python3', '-m', 'venv', '--system-site-packages', folder],
          [python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '-r', requirements],
          ...(check ? [[python, '-m', 'pip', 'check', '--disable-pip-version-check'] as const] : []),
        ];
  for (const [program, ...args] of steps)
    await run(program, args, folder).catch((error: unknown) => {
      const problem = messageOf(error);
      throw embeddedErrors.SetupFailed({ step: `${kind}: ${packages.join(', ')}`, problem }, error);
    });
}
