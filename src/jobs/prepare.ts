import { MantaError } from '../base/errors.ts';
import type { Job } from '../core/jobs/job.ts';
import type { AttemptOrder, SetupStep } from '../engines/runner.ts';
import { expandVariables } from './env-variables.ts';
import type { PackageStore } from './packages.ts';
import { type RuntimeEnv, readRuntimeEnv } from './runtime-env.ts';

/** A runtime environment made ready on the head. */
export interface Prepared {
  readonly envVars: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  readonly setup: readonly SetupStep[];
}

/** Whether preparing means work: downloads or unpacking. */
export const needsPackages = (job: Job): boolean =>
  job.runtimeEnv['working_dir'] !== undefined || job.runtimeEnv['py_modules'] !== undefined;

type Environment = Readonly<Record<string, string | undefined>>;

/** Makes the packages of a job ready. Throws MantaError for what is the job's own fault. */
export async function prepare(
  job: Job,
  packages: PackageStore,
  baseEnv: Environment,
  signal: AbortSignal,
): Promise<Prepared> {
  const env = readAndCheck(job.runtimeEnv, baseEnv);
  const workingDir = env.workingDir === undefined ? undefined : await packages.open(job.user, env.workingDir, signal);
  const modules: SetupStep[] = [];
  for (const uri of env.pyModules) {
    const path = await packages.open(job.user, uri, signal);
    modules.push(path.endsWith('.whl') ? { kind: 'pip', packages: [path] } : { kind: 'python-path', path });
  }
  return { envVars: env.envVars, ...(workingDir !== undefined && { workingDir }), setup: [...modules, ...env.setup] };
}

/** The same for a job that needs no packages: nothing has to be waited for. */
export function prepareWithout(job: Job, baseEnv: Environment): Prepared {
  const { envVars, setup } = readAndCheck(job.runtimeEnv, baseEnv);
  return { envVars, setup };
}

/** Reads a runtime environment; throws also when its variables, which are expanded at the start, would grow too long. */
export function readAndCheck(env: Job['runtimeEnv'], baseEnv: Environment): RuntimeEnv {
  const read = readRuntimeEnv(env);
  expandVariables(read.envVars, baseEnv);
  return read;
}

/** The order for the last attempt of a job. */
export function orderOf(job: Job, prepared: Prepared, log: string, baseEnv: Environment): AttemptOrder {
  const attempt = job.attempts.at(-1);
  if (!attempt) throw new Error(`job ${job.id} has no attempt to order`);
  return {
    id: attempt.id,
    job: job.id,
    entrypoint: job.entrypoint,
    env: {
      PYTHONUNBUFFERED: '1',
      ...expandVariables(prepared.envVars, baseEnv),
      MANTA_JOB_ID: job.id,
      MANTA_JOB_ATTEMPT: String(attempt.number),
    },
    ...(prepared.workingDir !== undefined && { workingDir: prepared.workingDir }),
    setup: prepared.setup,
    resources: job.resources,
    labels: job.labels,
    ...(job.gang && { gang: job.gang }),
    log,
  };
}

/** The words for a preparation that failed, and whether trying again could help. */
export function preparationFailure(error: unknown): { readonly message: string; readonly ofTheJob: boolean } {
  return {
    message: (error as Error).message,
    ofTheJob: error instanceof MantaError && !error.code.startsWith('MANTA_STATE_'),
  };
}
