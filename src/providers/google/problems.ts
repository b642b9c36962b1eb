import { error } from '../../core/spec/problems.ts';

/** What is wrong in a `node_config` for Google Cloud. */
export const memberProblems = {
  UnknownMember: error<{ name: string; nearest?: string | undefined }>('GCP_UNKNOWN_MEMBER', {
    title: 'a field of node_config that Google Cloud does not have',
    meaning: 'Manta passes node_config to Compute Engine, or to the Cloud TPU API, which rejects unknown fields.',
    hint: 'correct the name, or remove the field',
    message: (e) => `unknown field '${e.name}' of node_config`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  MemberType: error<{ name: string; given: string; wanted: string }>('GCP_MEMBER_TYPE', {
    title: 'a field of node_config with the wrong type (GCP)',
    meaning:
      'Manta passes node_config to Compute Engine, or to the Cloud TPU API, which does not accept a value of this type here.',
    hint: 'use a value of the type that Google Cloud accepts',
    message: (e) => `'${e.name}' must be ${e.wanted}, not ${e.given}`,
  }),
};
