import { defineEvent } from '../../base/events.ts';

export const googleEvents = {
  looking: defineEvent<{ project: string; region: string }>({
    code: 'MANTA_GOOGLE_LOOKING',
    level: 'info',
    text: (e) => `looking at ${e.region} of project ${e.project} on Google Cloud`,
  }),
  prepared: defineEvent<{ done: string; what: string; id?: string; note?: string }>({
    code: 'MANTA_GOOGLE_PREPARED',
    level: 'info',
    text: (e) => `${e.done} ${e.what}${e.id ? ` ${e.id}` : ''}${e.note ? ` (${e.note})` : ''}`,
  }),
};
