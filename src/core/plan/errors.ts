import { defineError } from '../../base/errors.ts';

export const planErrors = {
  BadRequest: defineError<{ path: string; problem: string }>({
    code: 'MANTA_PLAN_BAD_REQUEST',
    exit: 1,
    message: (e) => (e.path === '' ? e.problem : `${e.path}: ${e.problem}`),
    hint: () => "a request has the fields of Ray's SchedulingRequest, as protobuf JSON",
  }),
};
