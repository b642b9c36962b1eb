import { error } from '../../core/spec/problems.ts';

/** What is wrong in a `node_config` for AWS. */
export const memberProblems = {
  UnknownMember: error<{ name: string; nearest?: string | undefined }>('AWS_UNKNOWN_MEMBER', {
    title: 'a member of node_config that AWS does not have',
    meaning: 'node_config is what RunInstances takes. AWS has no member of this name and would ignore it.',
    hint: 'correct the name, or remove the member',
    message: (e) => `unknown member '${e.name}' of RunInstances`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  MemberType: error<{ name: string; given: string; wanted: string }>('AWS_MEMBER_TYPE', {
    title: 'a member of node_config of the wrong type',
    meaning: 'node_config is what RunInstances takes, and this value is of another type than AWS accepts.',
    hint: 'write a value of the type that AWS accepts',
    message: (e) => `'${e.name}' must be ${e.wanted}, not ${e.given}`,
  }),
  MissingMember: error<{ name: string; in: string }>('AWS_MISSING_MEMBER', {
    title: 'a member of node_config that AWS needs',
    meaning: 'AWS refuses a launch without this member.',
    hint: 'add the member',
    message: (e) => `'${e.in}' needs the member '${e.name}'`,
    advise: (e) => `add ${e.name} to ${e.in}`,
  }),
};
