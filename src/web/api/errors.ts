import { defineError } from '../../base/errors.ts';

/** What can go wrong on the page's own side of a request. */
export const pageErrors = {
  NoAnswer: defineError({
    code: 'MANTA_PAGE_NO_ANSWER',
    exit: 6,
    message: () => 'the head is not responding',
    hint: () => "check that the cluster is up with 'manta status'",
  }),
  NoBody: defineError({
    code: 'MANTA_PAGE_NO_BODY',
    exit: 6,
    message: () => 'the stream has no body',
  }),
};
