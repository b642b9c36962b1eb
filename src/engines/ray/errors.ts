import { defineError } from '../../base/errors.ts';

export const rayErrors = {
  NotAllowed: defineError<{ call: string; detail: string }>({
    code: 'MANTA_RAY_NOT_ALLOWED',
    exit: 6,
    message: (e) => `Ray did not accept the token for '${e.call}': ${e.detail}`,
    hint: () => "the token in the head's environment and the one that Manta uses must be the same",
  }),
  Refused: defineError<{ call: string; detail: string }>({
    code: 'MANTA_RAY_REFUSED',
    exit: 6,
    message: (e) => `Ray refused '${e.call}': ${e.detail}`,
  }),
};
