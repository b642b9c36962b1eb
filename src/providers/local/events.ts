import { defineEvent } from '../../base/events.ts';

export const localEvents = {
  passedOver: defineEvent<{ host: string; reason: string; seconds: number }>({
    code: 'MANTA_LOCAL_PASSED_OVER',
    level: 'info',
    text: (e) => `skipping host ${e.host} for ${e.seconds} s: ${e.reason}`,
  }),
  rests: defineEvent<{ host: string; seconds: number }>({
    code: 'MANTA_LOCAL_RESTS',
    level: 'info',
    text: (e) => `host ${e.host} was drained by hand and stays unused for ${e.seconds} s, or until the next 'manta up'`,
  }),
  rayRuns: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_RAY_RUNS',
    level: 'warn',
    text: (e) => `Ray was already running on ${e.host}, unclaimed, when ${e.instance} claimed it`,
  }),
  orphan: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_ORPHAN',
    level: 'warn',
    text: (e) => `host ${e.host} is still claimed by ${e.instance} of this cluster; stopping that first`,
  }),
  lost: defineEvent<{ host: string; instance: string; by: string }>({
    code: 'MANTA_LOCAL_CLAIM_LOST',
    level: 'error',
    text: (e) => `${e.instance} lost its claim on ${e.host}: the host is ${e.by}`,
  }),
  notRenewed: defineEvent<{ host: string; instance: string; reason: string }>({
    code: 'MANTA_LOCAL_NOT_RENEWED',
    level: 'warn',
    text: (e) => `could not renew the claim of ${e.instance} on ${e.host}: ${e.reason}`,
  }),
  keyChanged: defineEvent<{ host: string; offered: string; pinned: readonly string[]; accept: string }>({
    code: 'MANTA_LOCAL_KEY_CHANGED',
    level: 'warn',
    text: (e) =>
      `not using host ${e.host}: its host key changed from ${e.pinned.join(', ')} to ${e.offered}; if you reinstalled it, accept the new key with '${e.accept}'`,
  }),
  notEnded: defineEvent<{ host: string; instance: string; reason: string; next: string }>({
    code: 'MANTA_LOCAL_NOT_ENDED',
    level: 'warn',
    text: (e) => `could not stop ${e.instance} on ${e.host} yet, retrying: ${e.reason}; ${e.next}`,
  }),
  unverified: defineEvent<{ host: string; instance: string; reason: string; next: string }>({
    code: 'MANTA_LOCAL_UNVERIFIED',
    level: 'warn',
    text: (e) =>
      `could not stop ${e.instance} on ${e.host} (${e.reason}): it now counts as gone and another host may replace it, but Ray may keep running there until the host responds; ${e.next}`,
  }),
  cleaned: defineEvent<{ host: string; instance: string }>({
    code: 'MANTA_LOCAL_CLEANED',
    level: 'info',
    text: (e) => `${e.host} responds again; stopped ${e.instance} there`,
  }),
  badRecord: defineEvent<{ file: string; reason: string }>({
    code: 'MANTA_LOCAL_BAD_RECORD',
    level: 'error',
    text: (e) =>
      `cannot read the record ${e.file} (${e.reason}), so it was set aside; if it named a host, that host is cleaned up when it is next claimed`,
  }),
};
