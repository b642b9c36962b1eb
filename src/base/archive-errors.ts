import { defineError } from './errors.ts';

export const archiveErrors = {
  NotAnArchive: defineError<{ path: string; detail: string }>({
    code: 'MANTA_ARCHIVE_UNREADABLE',
    exit: 2,
    message: (e) => `'${e.path}' is not a sound archive: ${e.detail}`,
  }),
  NoXz: defineError<{ path: string }>({
    code: 'MANTA_ARCHIVE_NO_XZ',
    exit: 2,
    message: (e) => `'${e.path}' cannot be unpacked: there is no 'xz' on the PATH of the cluster's head`,
    hint: () => 'install xz (Debian: xz-utils) on the head, or pack the files as .tar.gz or .zip',
  }),
  Unsafe: defineError<{ path: string; entry: string; detail: string }>({
    code: 'MANTA_ARCHIVE_UNSAFE',
    exit: 2,
    message: (e) => `'${e.path}' was refused for its entry '${e.entry}': ${e.detail}`,
  }),
  TooLarge: defineError<{ path: string; detail: string }>({
    code: 'MANTA_ARCHIVE_TOO_LARGE',
    exit: 2,
    message: (e) => `'${e.path}' was refused: ${e.detail}`,
    hint: () => 'leave large files out of the package, or raise the limit',
  }),
};
