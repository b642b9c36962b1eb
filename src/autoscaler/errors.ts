import { defineError } from '../base/errors.ts';

export const autoscalerErrors = {
  NoAnswer: defineError<{ call: string; instance: string }>({
    code: 'MANTA_AUTOSCALER_NO_ANSWER',
    exit: 1,
    message: (e) => `'${e.call}' on ${e.instance} timed out`,
    hint: () => 'Manta retries it in the next pass',
  }),
  Stopped: defineError({
    code: 'MANTA_AUTOSCALER_STOPPED',
    exit: 1,
    message: () => 'the autoscaler was stopped',
    hint: () => 'unfinished operations resume when it starts again',
  }),
};
