import { error } from '../../core/spec/problems.ts';

/** What is wrong in a `node_config` for AWS. */
export const memberProblems = {
  UnknownMember: error<{ name: string; nearest?: string | undefined }>('AWS_UNKNOWN_MEMBER', {
    title: 'a field of node_config that AWS does not have',
    meaning: 'Manta passes node_config to RunInstances, which has no field of this name.',
    hint: 'correct the name, or remove the field',
    message: (e) => `unknown field '${e.name}' of RunInstances`,
    advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  MemberType: error<{ name: string; given: string; wanted: string }>('AWS_MEMBER_TYPE', {
    title: 'a field of node_config with the wrong type',
    meaning: 'Manta passes node_config to RunInstances, which does not accept a value of this type here.',
    hint: 'use a value of the type that AWS accepts',
    message: (e) => `'${e.name}' must be ${e.wanted}, not ${e.given}`,
  }),
  MissingMember: error<{ name: string; in: string }>('AWS_MISSING_MEMBER', {
    title: 'a field of node_config that AWS requires',
    meaning: 'AWS refuses a launch without this field.',
    hint: 'add the field',
    message: (e) => `'${e.in}' needs the field '${e.name}'`,
    advise: (e) => `add ${e.name} to ${e.in}`,
  }),
};
