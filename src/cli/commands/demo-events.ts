import { defineEvent } from '../../base/events.ts';

/** What the demonstration tells. */
export const demoEvents = {
  page: defineEvent<{ url: string }>({
    code: 'MANTA_DEMO_PAGE',
    level: 'info',
    text: (e) => `the page is ${e.url} (this link works once)`,
  }),
  sweep: defineEvent<{ jobs: number; over: number; running: number; workers: number }>({
    code: 'MANTA_DEMO_SWEEP',
    level: 'info',
    text: (e) => `${e.over} of ${e.jobs} jobs done, ${e.running} running on ${e.workers} workers`,
  }),
  scaling: defineEvent<{ text: string }>({
    code: 'MANTA_DEMO_SCALING',
    level: 'info',
    text: (e) => e.text,
  }),
};
