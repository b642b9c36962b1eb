import { defineError } from '../../base/errors.ts';

/** What the gateway answers in Ray's place. */
export const gatewayErrors = {
  BadRequest: defineError<{ problem: string }>({
    code: 'MANTA_GATEWAY_BAD_REQUEST',
    exit: 2,
    message: (e) => `the request could be read in two ways: ${e.problem}`,
    hint: () => 'send it the plain way: a path without escaped slashes, and each header once',
  }),
  Busy: defineError({
    code: 'MANTA_GATEWAY_BUSY',
    exit: 6,
    message: () => 'there are too many connections of this user, or requests on this one',
    hint: () => 'close some, or ask again in a moment',
  }),
  Closing: defineError({
    code: 'MANTA_GATEWAY_CLOSING',
    exit: 6,
    message: () => 'mantad is ending and takes no more changes',
    hint: () => 'nothing was done; ask again in a moment, when the next one serves',
  }),
  NoAnswer: defineError<{ address: string; why: string }>({
    code: 'MANTA_GATEWAY_NO_ANSWER',
    exit: 6,
    message: (e) => `Ray's dashboard at ${e.address} does not answer: ${e.why}`,
    hint: () => "Ray may be starting; 'manta status' and 'manta events' tell, and jobs are taken meanwhile",
  }),
  TokenRefused: defineError<{ address: string; status: number }>({
    code: 'MANTA_GATEWAY_TOKEN_REFUSED',
    exit: 6,
    message: (e) => `Ray's dashboard at ${e.address} does not take the token that mantad has for it (${e.status})`,
    hint: () => "'manta up' with the cluster file starts Ray with that token again",
  }),
};
