import { defineError } from '../../base/errors.ts';

export const labCloudErrors = {
  BadConfig: defineError<{ at: string; problem: string }>({
    code: 'MANTA_LAB_CLOUD_BAD_CONFIG',
    exit: 2,
    message: (e) => `${e.at} ${e.problem}`,
    hint: () => 'docs/lab-cloud.md shows a cluster file for a lab cloud',
  }),
  NoToken: defineError<{ from: string; detail: string }>({
    code: 'MANTA_LAB_CLOUD_NO_TOKEN',
    exit: 2,
    message: (e) => `cannot read the lab cloud's token from ${e.from}: ${e.detail}`,
    hint: () => 'set provider.token_file to the file, or provider.token_env to the variable, that contains it',
  }),
};
