import { defineEvent } from '../../base/events.ts';

/** What the job commands say beside their result. */
export const jobCommandEvents = {
  submitted: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_SUBMITTED',
    level: 'info',
    text: (e) => `Job '${e.job}' submitted successfully`,
  }),
  nextSteps: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_NEXT_STEPS',
    level: 'info',
    text: (e) => `follow it: manta job logs -f ${e.job}; stop it: manta job stop ${e.job}`,
  }),
  schedule: defineEvent<{ job: string; next: string }>({
    code: 'MANTA_JOB_CLI_SCHEDULE',
    level: 'info',
    text: (e) => `it runs by its schedule, next at ${e.next}; stop it to end the schedule`,
  }),
  succeeded: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_SUCCEEDED',
    level: 'info',
    text: (e) => `Job '${e.job}' succeeded`,
  }),
  stopped: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_STOPPED',
    level: 'warn',
    text: (e) => `Job '${e.job}' was stopped`,
  }),
  failed: defineEvent<{ job: string; message: string }>({
    code: 'MANTA_JOB_CLI_FAILED',
    level: 'error',
    text: (e) => `Job '${e.job}' failed: ${e.message}`,
  }),
  stopping: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_STOPPING',
    level: 'info',
    text: (e) => `stopping job '${e.job}' and waiting for its end`,
  }),
  asking: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_ASKING',
    level: 'warn',
    text: (e) => `stop job '${e.job}'? s = stop it, d = leave it running, Enter = go on; Ctrl-C leaves it running`,
  }),
  detached: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_DETACHED',
    level: 'warn',
    text: (e) => `job '${e.job}' goes on without this terminal; come back with: manta job logs -f ${e.job}`,
  }),
  jobIdDeprecated: defineEvent<Record<string, never>>({
    code: 'MANTA_JOB_CLI_JOB_ID_DEPRECATED',
    level: 'warn',
    text: () => '--job-id is deprecated: use --submission-id',
  }),
  workingDirOverrides: defineEvent<Record<string, never>>({
    code: 'MANTA_JOB_CLI_WORKING_DIR_OVERRIDES',
    level: 'warn',
    text: () => '--working-dir replaces the working_dir of the runtime environment',
  }),
};
