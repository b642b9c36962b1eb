import { defineEvent } from '../base/events.ts';

/** What the queue says of itself. Values of a job's environment never stand in an event. */
export const jobEvents = {
  submitted: defineEvent<{ job: string; user: string }>({
    code: 'job-submitted',
    level: 'info',
    text: (e) => `job ${e.job} submitted by ${e.user}`,
  }),
  handedOver: defineEvent<{ job: string; attempt: string }>({
    code: 'job-handed-over',
    level: 'debug',
    text: (e) => `attempt ${e.attempt} of job ${e.job} handed to the engine`,
  }),
  running: defineEvent<{ job: string; attempt: string; node?: string | undefined }>({
    code: 'job-running',
    level: 'info',
    text: (e) => `job ${e.job} runs${e.node ? ` on ${e.node}` : ''}`,
  }),
  retried: defineEvent<{ job: string; reason: string }>({
    code: 'job-retried',
    level: 'warn',
    text: (e) => `job ${e.job} is tried again: ${e.reason}`,
  }),
  over: defineEvent<{ job: string; state: string; reason: string }>({
    code: 'job-over',
    level: 'info',
    text: (e) => `job ${e.job} ${e.state}: ${e.reason}`,
  }),
  deleted: defineEvent<{ job: string }>({
    code: 'job-deleted',
    level: 'info',
    text: (e) => `job ${e.job} deleted`,
  }),
  firingSkipped: defineEvent<{ job: string; previous: string }>({
    code: 'job-firing-skipped',
    level: 'warn',
    text: (e) => `schedule ${e.job} did not fire: ${e.previous} is not over yet`,
  }),
  engineTrouble: defineEvent<{ call: string; detail: string }>({
    code: 'job-engine-trouble',
    level: 'warn',
    text: (e) => `the engine did not answer '${e.call}', trying again: ${e.detail}`,
  }),
  journalTrouble: defineEvent<{ detail: string }>({
    code: 'job-journal-trouble',
    level: 'error',
    text: (e) => `the journal could not be written, trying again: ${e.detail}`,
  }),
  orphanEnded: defineEvent<{ attempt: string }>({
    code: 'job-orphan-ended',
    level: 'warn',
    text: (e) => `attempt ${e.attempt} belongs to no job and is ended`,
  }),
};
