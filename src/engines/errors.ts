import { defineError } from '../base/errors.ts';

/** What an engine may answer instead of its state. */
export const engineErrors = {
  Unreachable: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_ENGINE_UNREACHABLE',
    exit: 6,
    message: (e) => `the engine did not answer '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'nothing is ended until the engine tells its state again',
  }),
};
