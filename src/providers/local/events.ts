import { defineEvent } from '../../base/events.ts';

export const localEvents = {
  passedOver: defineEvent<{ host: string; reason: string; seconds: number }>({
    code: 'MANTA_LOCAL_PASSED_OVER',
    level: 'info',
    text: (e) => `host ${e.host} is passed over for ${e.seconds} s: ${e.reason}`,
  }),
  rayRuns: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_RAY_RUNS',
    level: 'warn',
    text: (e) => `Ray was running on ${e.host}, which no cluster had claimed, when ${e.instance} claimed it`,
  }),
  orphan: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_ORPHAN',
    level: 'warn',
    text: (e) => `host ${e.host} still held ${e.instance} of this cluster, which is ended first`,
  }),
  lost: defineEvent<{ host: string; instance: string; by: string }>({
    code: 'MANTA_LOCAL_CLAIM_LOST',
    level: 'error',
    text: (e) => `the claim of ${e.instance} on ${e.host} is lost: the host is ${e.by}`,
  }),
  notRenewed: defineEvent<{ host: string; instance: string; reason: string }>({
    code: 'MANTA_LOCAL_NOT_RENEWED',
    level: 'warn',
    text: (e) => `the claim of ${e.instance} on ${e.host} could not be renewed: ${e.reason}`,
  }),
  unverified: defineEvent<{ host: string; instance: string; reason: string }>({
    code: 'MANTA_LOCAL_UNVERIFIED',
    level: 'warn',
    text: (e) =>
      `${e.instance} on ${e.host} was to end and the host does not answer (${e.reason}); Ray may still run there until it does`,
  }),
  cleaned: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_CLEANED',
    level: 'info',
    text: (e) => `${e.host} answers again: ${e.instance} has ended there`,
  }),
  badRecord: defineEvent<{ file: string; reason: string }>({
    code: 'MANTA_LOCAL_BAD_RECORD',
    level: 'error',
    text: (e) =>
      `the record ${e.file} cannot be read (${e.reason}) and was put aside; its host is cleaned when it is claimed again`,
  }),
};
