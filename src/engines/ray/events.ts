import { defineEvent } from '../../base/events.ts';

export const rayEvents = {
  versionUntested: defineEvent<{ version: string; oldest: string; newest: string }>({
    code: 'MANTA_RAY_VERSION_UNTESTED',
    level: 'warn',
    text: (e) => `Ray ${e.version} is outside the tested range, ${e.oldest} to ${e.newest}; using it anyway`,
  }),
  outputLost: defineEvent<{ attempt: string; reason: string }>({
    code: 'MANTA_RAY_OUTPUT_LOST',
    level: 'warn',
    text: (e) => `the last output of '${e.attempt}' is missing: ${e.reason}`,
  }),
  trouble: defineEvent<{ work: string; detail: string }>({
    code: 'MANTA_RAY_TROUBLE',
    level: 'warn',
    text: (e) => `could not ${e.work}: ${e.detail}`,
  }),
};
