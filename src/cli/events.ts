import { defineEvent } from '../base/events.ts';

/** What commands report about themselves and about jobs. */
export const cliEvents = {
  ignoredOption: defineEvent<{ option: string; why: string }>({
    code: 'MANTA_CLI_IGNORED_OPTION',
    level: 'info',
    text: (e) => `${e.option} has no effect here: ${e.why}`,
  }),
  plainDownload: defineEvent<{ address: string }>({
    code: 'MANTA_CLI_PLAIN_DOWNLOAD',
    level: 'warn',
    text: (e) => `${e.address} is downloaded without encryption: anyone on the network path can change what it runs`,
  }),
  jobSubmitted: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_SUBMITTED',
    level: 'info',
    text: (e) => `Job '${e.job}' submitted successfully`,
  }),
  jobNextSteps: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_NEXT_STEPS',
    level: 'info',
    text: (e) => `follow it: manta job logs -f ${e.job}; stop it: manta job stop ${e.job}`,
  }),
  jobSchedule: defineEvent<{ job: string; next: string }>({
    code: 'MANTA_JOB_CLI_SCHEDULE',
    level: 'info',
    text: (e) => `next run at ${e.next}; stop the job to cancel its schedule`,
  }),
  jobSucceeded: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_SUCCEEDED',
    level: 'info',
    text: (e) => `Job '${e.job}' succeeded`,
  }),
  jobStopped: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_STOPPED',
    level: 'warn',
    text: (e) => `Job '${e.job}' was stopped`,
  }),
  jobFailed: defineEvent<{ job: string; message: string }>({
    code: 'MANTA_JOB_CLI_FAILED',
    level: 'error',
    text: (e) => `Job '${e.job}' failed: ${e.message}`,
  }),
  jobStopping: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_STOPPING',
    level: 'info',
    text: (e) => `stopping job '${e.job}'`,
  }),
  jobAsking: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_ASKING',
    level: 'warn',
    text: (e) =>
      `stop job '${e.job}'? s = stop it, d = detach and leave it running, Enter = keep following; Ctrl-C detaches`,
  }),
  jobDetached: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_CLI_DETACHED',
    level: 'warn',
    text: (e) => `job '${e.job}' keeps running; follow it again with: manta job logs -f ${e.job}`,
  }),
  jobIdDeprecated: defineEvent<Record<string, never>>({
    code: 'MANTA_JOB_CLI_JOB_ID_DEPRECATED',
    level: 'warn',
    text: () => '--job-id is deprecated: use --submission-id',
  }),
  jobWorkingDirOverrides: defineEvent<Record<string, never>>({
    code: 'MANTA_JOB_CLI_WORKING_DIR_OVERRIDES',
    level: 'warn',
    text: () => '--working-dir overrides working_dir of the runtime environment',
  }),
  demoPage: defineEvent<{ url: string }>({
    code: 'MANTA_DEMO_PAGE',
    level: 'info',
    text: (e) => `open ${e.url} in a browser (the link works once)`,
  }),
  demoSweep: defineEvent<{ jobs: number; over: number; running: number; workers: number }>({
    code: 'MANTA_DEMO_SWEEP',
    level: 'info',
    text: (e) => `${e.over} of ${e.jobs} jobs done, ${e.running} running on ${e.workers} workers`,
  }),
  demoScaling: defineEvent<{ text: string }>({
    code: 'MANTA_DEMO_SCALING',
    level: 'info',
    text: (e) => e.text,
  }),
};
