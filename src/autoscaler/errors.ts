import { defineError } from '../base/errors.ts';

export const autoscalerErrors = {
  NoAnswer: defineError<{ call: string; instance: string }>({
    code: 'MANTA_AUTOSCALER_NO_ANSWER',
    exit: 1,
    message: (e) => `'${e.call}' on ${e.instance} was not answered in time`,
    hint: () => 'it is tried again in the next pass',
  }),
  Stopped: defineError({
    code: 'MANTA_AUTOSCALER_STOPPED',
    exit: 1,
    message: () => 'the loop was stopped',
    hint: () => 'what was under way goes on when it starts again',
  }),
};
