import { defineError } from '../base/errors.ts';

/**
 * What the jobs layer may answer instead of doing what it was asked. Both HTTP APIs choose their status by the kind;
 * Ray's says it in Ray's words.
 */
export const jobErrors = {
  NotFound: defineError<{ job: string }>({
    code: 'MANTA_JOB_NOT_FOUND',
    exit: 1,
    message: (e) => `job '${e.job}' does not exist`,
    hint: () => "'manta job list' shows the jobs that are kept",
  }),
  Exists: defineError<{ job: string }>({
    code: 'MANTA_JOB_EXISTS',
    exit: 1,
    message: (e) => `job '${e.job}' already exists and does other work`,
    hint: () => 'leave the id out and one is made up',
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
    hint: () => 'ask for less, or add a node type that offers it',
  }),
  QueueFull: defineError<{ scope: 'cluster' | 'user'; limit: number }>({
    code: 'MANTA_JOB_QUEUE_FULL',
    exit: 1,
    message: (e) => `${e.limit} jobs wait already${e.scope === 'user' ? ' for this user' : ''}; no more are taken`,
    hint: () => 'submit again when some of them have started',
  }),
  MemoryFull: defineError<{ scope: 'cluster' | 'user'; limit: number }>({
    code: 'MANTA_JOB_MEMORY_FULL',
    exit: 1,
    message: (e) =>
      `the jobs ${e.scope === 'user' ? 'of this user' : 'of the cluster'} take ${e.limit >> 20} MiB of the head's memory already; no more are taken`,
    hint: () => 'submit again when some of them are over, and put large values into files of the working directory',
  }),
  Closed: defineError({
    code: 'MANTA_JOB_CLOSED',
    exit: 6,
    message: () => 'the cluster is being turned off and takes no more jobs',
    hint: () => "'manta up' starts it again",
  }),
  NotOver: defineError<{ job: string; state: string }>({
    code: 'MANTA_JOB_NOT_OVER',
    exit: 1,
    message: (e) => `job '${e.job}' is ${e.state} and has to be over first`,
    hint: () => 'stop it, or wait for its end',
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
      `'${e.name.slice(0, 100)}' is not a package name: letters, digits, '.', '_', '+' and '-', ending in .zip or .whl`,
  }),
  PackageTooLarge: defineError<{ limit: number }>({
    code: 'MANTA_PACKAGE_TOO_LARGE',
    exit: 1,
    message: (e) => `the package is larger than ${e.limit} bytes`,
    hint: () => 'leave large files out with .rayignore or excludes, or raise the package limit of the cluster',
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
    message: (e) => `user '${e.user}' exists already`,
  }),
  UserNotFound: defineError<{ user: string }>({
    code: 'MANTA_USER_NOT_FOUND',
    exit: 1,
    message: (e) => `there is no user '${e.user}'`,
  }),
  LastAdmin: defineError<{ user: string }>({
    code: 'MANTA_USER_LAST_ADMIN',
    exit: 1,
    message: (e) => `'${e.user}' is the last administrator and stays`,
  }),
};
