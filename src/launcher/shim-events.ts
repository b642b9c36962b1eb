import { defineEvent } from '../base/events.ts';

/** What is said about the place of a shim on PATH. */
export const shimEvents = {
  notOnPath: defineEvent<{ folder: string }>({
    code: 'MANTA_SHIM_NOT_ON_PATH',
    level: 'warn',
    text: (e) => `${e.folder} is not on PATH: put it there, before the folder of the real ray`,
  }),
  shadowed: defineEvent<{ file: string; by: string }>({
    code: 'MANTA_SHIM_SHADOWED',
    level: 'warn',
    text: (e) => `${e.by} stands before ${e.file} on PATH, so it is the one that scripts find`,
  }),
  noRealRay: defineEvent<Record<string, never>>({
    code: 'MANTA_SHIM_NO_REAL_RAY',
    level: 'info',
    text: () => 'no other ray is on PATH: commands that belong to Ray will say so',
  }),
};
