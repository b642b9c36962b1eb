import { defineError } from '../../base/errors.ts';

export const localErrors = {
  NoAnswer: defineError<{ host: string; detail: string }>({
    code: 'MANTA_LOCAL_NO_ANSWER',
    exit: 5,
    message: (e) => `the claim program on '${e.host}' gave no answer: ${e.detail}`,
    hint: () => 'log in there and see whether sh, id, date and flock work',
  }),
  Unusable: defineError<{ host: string; detail: string }>({
    code: 'MANTA_LOCAL_UNUSABLE',
    exit: 5,
    message: (e) => `host '${e.host}' cannot be claimed: ${e.detail}`,
    hint: () => 'set right what is named on the host; claims are kept in /var/tmp/manta-claims',
  }),
  Taken: defineError<{ host: string; by: string }>({
    code: 'MANTA_LOCAL_TAKEN',
    exit: 5,
    message: (e) => `host '${e.host}' is ${e.by}`,
    hint: () => 'it is free when that cluster gives it back, or when its claim has expired and no Ray runs there',
  }),
  RayState: defineError<{ host: string; cluster: string; detail: string }>({
    code: 'MANTA_LOCAL_RAY_STATE',
    exit: 5,
    message: (e) =>
      `the file that Ray keeps of the cluster '${e.cluster}' on ${e.host} could not be written: ${e.detail}`,
    hint: () =>
      "Ray's own commands (`ray get-head-ip`, `ray exec`) may not find the nodes; Manta does not need the file",
  }),
};
