import { defineEvent } from '../base/events.ts';

export const rayVenvEvents = {
  using: defineEvent<{ version: string; python: string }>({
    code: 'MANTA_RAY_VENV_USING',
    level: 'info',
    text: (e) => `Ray ${e.version} of ${e.python}`,
  }),
  passedOver: defineEvent<{ python: string; why: string }>({
    code: 'MANTA_RAY_VENV_PASSED_OVER',
    level: 'warn',
    text: (e) => `the Ray of ${e.python} is not used: ${e.why}`,
  }),
  making: defineEvent<{ version: string; folder: string; step: string }>({
    code: 'MANTA_RAY_VENV_MAKING',
    level: 'info',
    text: (e) => `installing Ray ${e.version} into ${e.folder}: ${e.step}`,
  }),
  made: defineEvent<{ version: string; folder: string; seconds: number }>({
    code: 'MANTA_RAY_VENV_MADE',
    level: 'info',
    text: (e) => `Ray ${e.version} is in ${e.folder} (${e.seconds} s)`,
  }),
};
