import { defineError } from '../../base/errors.ts';

export const localErrors = {
  NoAnswer: defineError<{ host: string; detail: string }>({
    code: 'MANTA_LOCAL_NO_ANSWER',
    exit: 5,
    message: (e) => `the claim script on '${e.host}' gave no answer: ${e.detail}`,
    hint: () => 'log in there and check that sh, id, date and flock work',
  }),
  Unusable: defineError<{ host: string; detail: string }>({
    code: 'MANTA_LOCAL_UNUSABLE',
    exit: 5,
    message: (e) => `cannot claim host '${e.host}': ${e.detail}`,
    hint: () => 'fix this on the host; claims are kept in /var/tmp/manta-claims',
  }),
  Taken: defineError<{ host: string; by: string }>({
    code: 'MANTA_LOCAL_TAKEN',
    exit: 5,
    message: (e) => `host '${e.host}' is ${e.by}`,
    hint: () =>
      'the host becomes free when that cluster releases it, or when the claim has expired and Ray is not running there',
  }),
  RayState: defineError<{ host: string; cluster: string; detail: string }>({
    code: 'MANTA_LOCAL_RAY_STATE',
    exit: 5,
    message: (e) => `could not write Ray's own record of the cluster '${e.cluster}' on ${e.host}: ${e.detail}`,
    hint: () =>
      "Ray's own commands (`ray get-head-ip`, `ray exec`) may not find the nodes; Manta does not need this file",
  }),
};
