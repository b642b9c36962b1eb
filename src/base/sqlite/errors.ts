import { defineError } from '../errors.ts';

export const databaseErrors = {
  DiskFull: defineError<{ path: string; detail: string }>({
    code: 'MANTA_STATE_DISK_FULL',
    exit: 6,
    message: (e) => `no room to write '${e.path}': ${e.detail}`,
    hint: () => 'free some disk space; running work continues, and nothing acknowledged is lost',
  }),
  Corrupt: defineError<{ path: string; detail: string }>({
    code: 'MANTA_STATE_CORRUPT',
    exit: 6,
    message: (e) => `'${e.path}' is damaged: ${e.detail}`,
    hint: () => 'the next start repairs it from the last backup and reports what cannot be recovered',
  }),
  InUse: defineError<{ path: string }>({
    code: 'MANTA_STATE_IN_USE',
    exit: 6,
    message: (e) => `'${e.path}' is open in another process`,
    hint: () => 'only one mantad can use a state folder; stop the other one first',
  }),
  Newer: defineError<{ path: string; found: number; known: number }>({
    code: 'MANTA_STATE_NEWER',
    exit: 6,
    message: (e) => `'${e.path}' has format ${e.found}, but this version of Manta supports only up to ${e.known}`,
    hint: () => 'upgrade Manta to the version that wrote it',
  }),
  Closed: defineError<{ path: string }>({
    code: 'MANTA_STATE_CLOSED',
    exit: 6,
    message: (e) => `'${e.path}' is closed`,
  }),
};
