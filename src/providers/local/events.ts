import { defineEvent } from '../../base/events.ts';

export const localEvents = {
  passedOver: defineEvent<{ host: string; reason: string; seconds: number }>({
    code: 'MANTA_LOCAL_PASSED_OVER',
    level: 'info',
    text: (e) => `host ${e.host} is passed over for ${e.seconds} s: ${e.reason}`,
  }),
  rests: defineEvent<{ host: string; seconds: number }>({
    code: 'MANTA_LOCAL_RESTS',
    level: 'info',
    text: (e) =>
      `host ${e.host} was emptied by hand and is left alone for ${e.seconds} s, or until the next 'manta up'`,
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
  keyChanged: defineEvent<{ host: string; offered: string; pinned: readonly string[]; accept: string }>({
    code: 'MANTA_LOCAL_KEY_CHANGED',
    level: 'warn',
    text: (e) =>
      `host ${e.host} is not used: it shows the host key ${e.offered} and not ${e.pinned.join(', ')}; if it was installed again, '${e.accept}' takes the new key`,
  }),
  notEnded: defineEvent<{ host: string; instance: string; reason: string; next: string }>({
    code: 'MANTA_LOCAL_NOT_ENDED',
    level: 'warn',
    text: (e) => `${e.instance} on ${e.host} could not be ended yet: ${e.reason}; it is tried again: ${e.next}`,
  }),
  unverified: defineEvent<{ host: string; instance: string; reason: string; next: string }>({
    code: 'MANTA_LOCAL_UNVERIFIED',
    level: 'warn',
    text: (e) =>
      `${e.instance} on ${e.host} was to end and could not be (${e.reason}): it counts as gone, another host may take its place, and Ray may run there until the host answers; ${e.next}`,
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
      `the record ${e.file} cannot be read (${e.reason}) and was put aside; a host that it may have named is cleaned when it is claimed again`,
  }),
};
