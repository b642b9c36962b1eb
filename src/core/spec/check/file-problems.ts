import { error } from '../problems.ts';

/** What can keep a file from being read at all. */
export const fileProblems = {
  Unreadable: error<{ why: string }>('UNREADABLE', {
    title: 'a file that cannot be read',
    meaning: 'The file does not exist, is a directory, or you have no permission to read it.',
    hint: 'check the path and its permissions',
    message: (e) => `cannot read this file: ${e.why}`,
  }),
};
