import { defineEvent } from '../base/events.ts';

/** What the queue says of itself. Values of a job's environment never stand in an event. */
export const jobEvents = {
  submitted: defineEvent<{ job: string; user: string }>({
    code: 'MANTA_JOB_SUBMITTED',
    level: 'info',
    text: (e) => `job ${e.job} submitted by ${e.user}`,
  }),
  handedOver: defineEvent<{ job: string; attempt: string }>({
    code: 'MANTA_JOB_HANDED_OVER',
    level: 'debug',
    text: (e) => `attempt ${e.attempt} of job ${e.job} handed to the engine`,
  }),
  running: defineEvent<{ job: string; attempt: string; node?: string | undefined }>({
    code: 'MANTA_JOB_RUNNING',
    level: 'info',
    text: (e) => `job ${e.job} runs${e.node ? ` on ${e.node.slice(0, 8)}` : ''}`,
  }),
  retried: defineEvent<{ job: string; reason: string }>({
    code: 'MANTA_JOB_RETRIED',
    level: 'warn',
    text: (e) => `job ${e.job} is tried again: ${e.reason}`,
  }),
  over: defineEvent<{ job: string; state: string; reason: string }>({
    code: 'MANTA_JOB_OVER',
    level: 'info',
    text: (e) => `job ${e.job} ${e.state}: ${e.reason}`,
  }),
  deleted: defineEvent<{ job: string }>({
    code: 'MANTA_JOB_DELETED',
    level: 'info',
    text: (e) => `job ${e.job} deleted`,
  }),
  firingSkipped: defineEvent<{ job: string; previous: string }>({
    code: 'MANTA_JOB_FIRING_SKIPPED',
    level: 'warn',
    text: (e) => `schedule ${e.job} did not fire: ${e.previous} is not over yet`,
  }),
  engineTrouble: defineEvent<{ call: string; detail: string }>({
    code: 'MANTA_JOB_ENGINE_TROUBLE',
    level: 'warn',
    text: (e) => `the engine did not answer '${e.call}', trying again: ${e.detail}`,
  }),
  journalTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_JOB_JOURNAL_TROUBLE',
    level: 'error',
    text: (e) => `the journal could not be written, trying again: ${e.detail}`,
  }),
  orphanEnded: defineEvent<{ attempt: string }>({
    code: 'MANTA_JOB_ORPHAN_ENDED',
    level: 'warn',
    text: (e) => `attempt ${e.attempt} belongs to no job and is ended`,
  }),
};
