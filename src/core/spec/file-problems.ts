import { error } from './problems.ts';

/** What can keep a file from being read at all. */
export const fileProblems = {
  Unreadable: error<{ why: string }>('UNREADABLE', {
    title: 'a file that cannot be opened',
    meaning: 'The file is not there, is a directory, or may not be read.',
    hint: 'check the path and its permissions',
    message: (e) => `cannot be read: ${e.why}`,
  }),
};
