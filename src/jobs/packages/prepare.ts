import { MantaError } from '../../base/errors.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { AttemptOrder, EnvironmentSupport, SetupStep } from '../../engines/runner.ts';
import { expandVariables } from './env-variables.ts';
import type { PackageStore } from './packages.ts';
import { isFetchedHere, type RuntimeEnv, readRuntimeEnv } from './runtime-env.ts';

/** A runtime environment made ready on the head. */
export interface PreparedEnv extends Pick<RuntimeEnv, 'envVars' | 'setup' | 'setupTimeout' | 'rest'> {
  /** A folder. */
  readonly workingDir?: string;
}

/** Whether preparing means work: downloads or unpacking. */
export const needsPackages = (job: Job): boolean =>
  job.runtimeEnv['working_dir'] !== undefined || job.runtimeEnv['py_modules'] !== undefined;

/** What the engine takes, and the environment of its nodes. */
export interface Where {
  readonly support: EnvironmentSupport;
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
}

/** Makes the packages of a job ready. Throws MantaError for what is the job's own fault. */
export async function prepare(
  job: Job,
  packages: PackageStore,
  where: Where,
  signal: AbortSignal,
): Promise<PreparedEnv> {
  const { workingDir, pyModules, setup, ...env } = readAndCheck(job.runtimeEnv, where);
  const open = (uri: string): Promise<string> => packages.open(job.user, uri, signal);
  const isRemote = workingDir !== undefined && !isFetchedHere(workingDir);
  const folder = workingDir === undefined || isRemote ? undefined : await open(workingDir);
  const modules: SetupStep[] = [];
  for (const uri of pyModules) {
    const path = isFetchedHere(uri) ? await open(uri) : uri;
    if (path === uri) modules.push({ kind: 'remote', path });
    else if (path.endsWith('.whl')) modules.push({ kind: 'pip', packages: [path], path });
    else modules.push({ kind: 'python-path', path });
  }
  return {
    ...env,
    ...(isRemote && { rest: { ...env.rest, working_dir: workingDir } }),
    ...(folder !== undefined && { workingDir: folder }),
    setup: [...modules, ...setup],
  };
}

/** The same for a job that needs no packages: nothing has to be waited for. */
export function prepareWithout(job: Job, where: Where): PreparedEnv {
  const { workingDir: _, pyModules: __, ...env } = readAndCheck(job.runtimeEnv, where);
  return env;
}

/** Reads a runtime environment; throws also when its variables, which are expanded at the start, would grow too long. */
export function readAndCheck(env: Job['runtimeEnv'], { support, baseEnv }: Where): RuntimeEnv {
  const read = readRuntimeEnv(env, support);
  expandVariables(read.envVars, baseEnv);
  return read;
}

/** The order for the last attempt of a job. */
export function orderOf(job: Job, prepared: PreparedEnv, log: string, { support, baseEnv }: Where): AttemptOrder {
  const attempt = job.attempts.at(-1);
  if (!attempt) throw new Error(`job ${job.id} has no attempt to order`);
  return {
    id: attempt.id,
    job: job.id,
    number: attempt.number,
    entrypoint: job.entrypoint,
    // Anyone who takes every environment expands variables too, where the job runs.
    env: support === 'all' ? prepared.envVars : expandVariables(prepared.envVars, baseEnv),
    own: { MANTA_JOB_ID: job.id, MANTA_JOB_ATTEMPT: String(attempt.number) },
    metadata: job.metadata,
    ...(prepared.workingDir !== undefined && { workingDir: prepared.workingDir }),
    setup: prepared.setup,
    ...(prepared.setupTimeout !== undefined && { setupTimeout: prepared.setupTimeout }),
    environment: prepared.rest,
    resources: job.resources,
    labels: job.labels,
    ...(job.gang && { gang: job.gang }),
    log,
  };
}

/** The words for a preparation that failed, and whether trying again could help: not for a job's own fault, and always where the disk is full. */
export function preparationFailure(error: unknown): {
  readonly message: string;
  readonly of: 'job' | 'head' | 'disk';
} {
  const { message, code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code.startsWith('MANTA_STATE_')) return { message, of: 'disk' };
  return { message, of: error instanceof MantaError ? 'job' : 'head' };
}
