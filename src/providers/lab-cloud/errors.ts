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
    message: (e) => `the lab cloud's token could not be read from ${e.from}: ${e.detail}`,
    hint: () => 'provider.token_file names the file, or provider.token_env the variable, that holds it',
  }),
};
