import { defineEvent } from '../base/events.ts';

/** What the queue reports. Values of a job's environment never appear in an event. */
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
    text: (e) => `job ${e.job} is running${e.node ? ` on ${e.node.slice(0, 8)}` : ''}`,
  }),
  retried: defineEvent<{ job: string; reason: string }>({
    code: 'MANTA_JOB_RETRIED',
    level: 'warn',
    text: (e) => `retrying job ${e.job}: ${e.reason}`,
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
    text: (e) => `schedule ${e.job} skipped a run: ${e.previous} has not finished yet`,
  }),
  engineTrouble: defineEvent<{ call: string; detail: string }>({
    code: 'MANTA_JOB_ENGINE_TROUBLE',
    level: 'warn',
    text: (e) => `the engine did not answer '${e.call}', retrying: ${e.detail}`,
  }),
  journalTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_JOB_JOURNAL_TROUBLE',
    level: 'error',
    text: (e) => `could not write to the journal, retrying: ${e.detail}`,
  }),
  orphanEnded: defineEvent<{ attempt: string }>({
    code: 'MANTA_JOB_ORPHAN_ENDED',
    level: 'warn',
    text: (e) => `stopping attempt ${e.attempt}, which belongs to no job`,
  }),
  userAdded: defineEvent<{ user: string; admin: boolean }>({
    code: 'MANTA_USER_ADDED',
    level: 'info',
    text: (e) => `added user ${e.user}${e.admin ? ' as an administrator' : ''}`,
  }),
  userRevoked: defineEvent<{ user: string }>({
    code: 'MANTA_USER_REVOKED',
    level: 'info',
    text: (e) => `revoked user ${e.user}: their tokens and sessions are no longer valid`,
  }),
  userTokenIssued: defineEvent<{ user: string }>({
    code: 'MANTA_USER_TOKEN_ISSUED',
    level: 'info',
    text: (e) => `issued another token for user ${e.user}`,
  }),
  userSignInRefused: defineEvent<{ count: number }>({
    code: 'MANTA_USER_SIGN_IN_REFUSED',
    level: 'warn',
    text: (e) =>
      e.count === 1
        ? 'refused a request with an invalid token or link'
        : `refused ${e.count} requests with invalid tokens or links since the last such event`,
  }),
  userOwnerRestored: defineEvent<{ user: string }>({
    code: 'MANTA_USER_OWNER_RESTORED',
    level: 'warn',
    text: (e) => `issued a new token for user ${e.user}, the owner of the state folder`,
  }),
};
