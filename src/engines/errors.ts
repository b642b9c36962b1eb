import { defineError } from '../base/errors.ts';

/** What an engine may answer instead of its state. */
export const engineErrors = {
  Unreachable: defineError<{ call: string; detail?: string }>({
    code: 'MANTA_ENGINE_UNREACHABLE',
    exit: 6,
    message: (e) => `the engine did not respond to '${e.call}'${e.detail ? `: ${e.detail}` : ''}`,
    hint: () => 'Manta terminates nothing until the engine reports its state again',
  }),
};
