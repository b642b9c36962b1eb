import { error } from '../../core/spec/problems.ts';

/** What is wrong in a `node_config` for Google Cloud. */
export const memberProblems = {
  UnknownMember: error<{ name: string; nearest?: string | undefined }>('GCP_UNKNOWN_MEMBER', {
    title: 'a member of node_config that Google Cloud does not have',
    meaning: 'node_config is what Compute Engine, or the API of TPUs, takes. It refuses a member of another name.',
    hint: 'correct the name, or remove the member',
    message: (e) => `unknown member '${e.name}' of node_config`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  MemberType: error<{ name: string; given: string; wanted: string }>('GCP_MEMBER_TYPE', {
    title: 'a member of node_config of the wrong type (GCP)',
    meaning: 'node_config is what Compute Engine, or the API of TPUs, takes, and this value is of another type.',
    hint: 'write a value of the type that Google Cloud accepts',
    message: (e) => `'${e.name}' must be ${e.wanted}, not ${e.given}`,
  }),
};
