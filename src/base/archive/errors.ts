import { defineError } from '../errors.ts';

export const archiveErrors = {
  NotAnArchive: defineError<{ path: string; detail: string }>({
    code: 'MANTA_ARCHIVE_UNREADABLE',
    exit: 2,
    message: (e) => `'${e.path}' is not a valid archive: ${e.detail}`,
  }),
  NoXz: defineError<{ path: string }>({
    code: 'MANTA_ARCHIVE_NO_XZ',
    exit: 2,
    message: (e) => `cannot unpack '${e.path}': 'xz' is not on the head's PATH`,
    hint: () => 'install xz (Debian: xz-utils) on the head, or pack the files as .tar.gz or .zip',
  }),
  Unsafe: defineError<{ path: string; entry: string; detail: string }>({
    code: 'MANTA_ARCHIVE_UNSAFE',
    exit: 2,
    message: (e) => `refused to unpack '${e.path}' because of its entry '${e.entry}': ${e.detail}`,
  }),
  TooLarge: defineError<{ path: string; detail: string }>({
    code: 'MANTA_ARCHIVE_TOO_LARGE',
    exit: 2,
    message: (e) => `refused to unpack '${e.path}': ${e.detail}`,
    hint: () => 'exclude large files from the package, or raise the limit',
  }),
};
