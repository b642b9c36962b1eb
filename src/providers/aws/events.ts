import { defineEvent } from '../../base/events.ts';

export const awsEvents = {
  looking: defineEvent<{ region: string }>({
    code: 'MANTA_AWS_LOOKING',
    level: 'info',
    text: (e) => `looking at ${e.region} on AWS`,
  }),
  prepared: defineEvent<{ done: string; what: string; id?: string; note?: string }>({
    code: 'MANTA_AWS_PREPARED',
    level: 'info',
    text: (e) => `${e.done} ${e.what}${e.id ? ` ${e.id}` : ''}${e.note ? ` (${e.note})` : ''}`,
  }),
};
