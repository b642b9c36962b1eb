import { defineError } from '../base/errors.ts';

/** What can be wrong with the place of a shim. */
export const shimErrors = {
  NoFolder: defineError<{ folder: string; problem: string }>({
    code: 'MANTA_SHIM_NO_FOLDER',
    exit: 2,
    message: (e) => `'${e.folder}' cannot hold the shim: ${e.problem}`,
    hint: () => 'give a folder of your own that stands before the real ray on PATH, such as ~/.local/bin',
  }),
  NotOurs: defineError<{ file: string }>({
    code: 'MANTA_SHIM_NOT_OURS',
    exit: 2,
    message: (e) => `'${e.file}' was not made by Manta and stays as it is`,
    hint: () => 'give another folder, one that stands before it on PATH',
  }),
};
