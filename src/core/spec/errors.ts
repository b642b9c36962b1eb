import { defineError } from '../../base/errors.ts';

interface RefusedFile {
  file: string;
  errors: number;
  first: string;
  hint: string | undefined;
}

const refusedWords = {
  message: (e: RefusedFile) => `cannot use ${e.file}: ${e.first}${e.errors > 1 ? `, and ${e.errors - 1} more` : ''}`,
  hint: (e: RefusedFile) => (e.errors > 1 ? `\`manta config check ${e.file}\` lists them all` : e.hint),
};

/** What ends a command that works on cluster files; what is wrong inside a file is a problem (problem-table.ts). */
export const specErrors = {
  Refused: defineError<RefusedFile>({ code: 'MANTA_SPEC_REFUSED', exit: 1, ...refusedWords }),
  /** The first error is in what a cloud would be asked for: it ends as what the cloud itself refuses. */
  RefusedNodeConfig: defineError<RefusedFile>({ code: 'MANTA_SPEC_REFUSED_NODE_CONFIG', exit: 2, ...refusedWords }),
  Directory: defineError<{ file: string }>({
    code: 'MANTA_SPEC_DIRECTORY',
    exit: 1,
    message: (e) => `\`${e.file}\` is a directory, not a cluster file`,
    hint: () => 'give a file in it, or the name of a cluster started from this machine',
  }),
  NoSuchKey: defineError<{ key: string; nearest: string | undefined }>({
    code: 'MANTA_SPEC_NO_SUCH_KEY',
    exit: 2,
    message: (e) => `unknown key '${e.key}'`,
    hint: (e) => (e.nearest === undefined ? '`manta config explain` lists every key' : `did you mean '${e.nearest}'?`),
  }),
  NotWritten: defineError<{ file: string; why: string }>({
    code: 'MANTA_SPEC_NOT_WRITTEN',
    exit: 2,
    message: (e) => `could not write ${e.file}: ${e.why}`,
    hint: () => 'without --write, the result goes to standard output',
  }),
};
