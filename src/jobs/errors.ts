import { defineError } from '../base/errors.ts';
import { moduleEndings } from './packages/formats.ts';

/**
 * What the jobs layer may answer instead of doing what it was asked. Both HTTP APIs choose their status by the kind;
 * Ray's says it in Ray's words.
 */
export const jobErrors = {
  NotFound: defineError<{ job: string }>({
    code: 'MANTA_JOB_NOT_FOUND',
    exit: 1,
    message: (e) => `job '${e.job}' does not exist`,
    hint: () => "'manta job list' shows all jobs",
  }),
  Exists: defineError<{ job: string }>({
    code: 'MANTA_JOB_EXISTS',
    exit: 1,
    message: (e) => `job '${e.job}' already exists with a different command or options`,
    hint: () => 'choose another id, or leave it out to have one generated',
  }),
  Invalid: defineError<{ field: string; problem: string }>({
    code: 'MANTA_JOB_INVALID',
    exit: 2,
    message: (e) => `${e.field} ${e.problem}`,
  }),
  Infeasible: defineError<{ reason: string }>({
    code: 'MANTA_JOB_INFEASIBLE',
    exit: 1,
    message: (e) => `the job can never run on this cluster: ${e.reason}`,
    hint: () => 'request less, or add a node type that provides it',
  }),
  QueueFull: defineError<{ scope: 'cluster' | 'user'; limit: number }>({
    code: 'MANTA_JOB_QUEUE_FULL',
    exit: 1,
    message: (e) =>
      `the queue is full: ${e.limit} jobs are already waiting${e.scope === 'user' ? ' for this user' : ''}`,
    hint: () => 'try again when some of them have started',
  }),
  MemoryFull: defineError<{ scope: 'cluster' | 'user'; limit: number }>({
    code: 'MANTA_JOB_MEMORY_FULL',
    exit: 1,
    message: (e) =>
      `the queue is full: the jobs ${e.scope === 'user' ? 'of this user' : 'of the cluster'} already use ${e.limit >> 20} MiB of the head's memory`,
    hint: () => 'try again when some of them have finished, and move large values into files in the working directory',
  }),
  Closed: defineError({
    code: 'MANTA_JOB_CLOSED',
    exit: 6,
    message: () => 'the cluster is shutting down and accepts no more jobs',
    hint: () => "'manta up' starts it again",
  }),
  NotOver: defineError<{ job: string; state: string }>({
    code: 'MANTA_JOB_NOT_OVER',
    exit: 1,
    message: (e) => `job '${e.job}' has not finished: it is ${e.state}`,
    hint: () => 'stop it, or wait until it finishes',
  }),
  Needed: defineError<{ job: string; by: string }>({
    code: 'MANTA_JOB_NEEDED',
    exit: 1,
    message: (e) => `job '${e.job}' cannot be deleted while '${e.by}' depends on it`,
  }),
  SetupFailed: defineError<{ problem: string }>({
    code: 'MANTA_JOB_SETUP_FAILED',
    exit: 9,
    message: (e) => e.problem,
  }),
  PackageName: defineError<{ name: string }>({
    code: 'MANTA_PACKAGE_NAME',
    exit: 2,
    message: (e) =>
      `'${e.name.slice(0, 100)}' is not a package name: use letters, digits, '.', '_', '+' and '-', ending in ${moduleEndings.join(', ')}`,
  }),
  PackageTooLarge: defineError<{ limit: number }>({
    code: 'MANTA_PACKAGE_TOO_LARGE',
    exit: 1,
    message: (e) => `the package is larger than ${e.limit} bytes`,
    hint: () => "exclude large files with .rayignore or excludes, or raise the cluster's package limit",
  }),
  PackageMissing: defineError<{ uri: string }>({
    code: 'MANTA_PACKAGE_MISSING',
    exit: 1,
    message: (e) => `package ${e.uri} is not on the head`,
    hint: () => 'submit the job again: the client uploads what is missing',
  }),
  UserExists: defineError<{ user: string }>({
    code: 'MANTA_USER_EXISTS',
    exit: 1,
    message: (e) => `user '${e.user}' already exists`,
  }),
  UserNotFound: defineError<{ user: string }>({
    code: 'MANTA_USER_NOT_FOUND',
    exit: 1,
    message: (e) => `user '${e.user}' does not exist`,
  }),
  LastAdmin: defineError<{ user: string }>({
    code: 'MANTA_USER_LAST_ADMIN',
    exit: 1,
    message: (e) => `cannot revoke '${e.user}': a cluster needs at least one administrator`,
  }),
};
