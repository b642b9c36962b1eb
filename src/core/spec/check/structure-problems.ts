import { error, warning } from '../problems.ts';

interface Typed {
  what: string;
  wanted: string;
  got: string;
  value: string;
  advice?: string | undefined;
}

/** What the shape of a file can get wrong. */
export const structureProblems = {
  NotAMapping: error<{ got: string }>('NOT_A_MAPPING', {
    title: 'the file is not a mapping',
    meaning: 'A cluster file must be a mapping of keys to values; this one is empty, a list or a single value.',
    hint: 'check that this is the right file; the smallest cluster file is `cluster_name: NAME` and `provider: {type: aws, region: us-west-2}`',
    message: (e) => `a cluster file must be a mapping of keys to values, but this is ${e.got}`,
  }),
  UnknownKey: error<{
    key: string;
    parent: string;
    nearest?: string | undefined;
    known: readonly string[];
    section?: string | undefined;
  }>('UNKNOWN_KEY', {
    title: 'unknown key',
    meaning: 'The key exists neither now nor in an earlier Ray version. Ray rejects the file too.',
    hint: '`manta config explain` lists every key',
    message: (e) => `unknown key '${e.key}'${e.parent === '' ? '' : ` in ${e.parent}`}`,
    advise: (e) =>
      e.section !== undefined
        ? `'${e.key}' belongs under '${e.section}': move it there`
        : e.nearest !== undefined
          ? `did you mean '${e.nearest}'?`
          : e.known.length > 0 && e.known.length <= 12
            ? `known here: ${e.known.join(', ')}`
            : undefined,
  }),
  MissingKey: error<{ key: string; example?: string | undefined }>('MISSING_KEY', {
    title: 'a required key is missing',
    meaning: 'Nothing can be launched without this key.',
    hint: 'add the key',
    message: (e) => `'${e.key}' is missing`,
    advise: (e) => (e.example === undefined ? undefined : `add it, for example ${e.example}`),
  }),
  WrongType: error<Typed>('WRONG_TYPE', {
    title: 'a value of the wrong type',
    meaning: 'The key takes another type of value, such as a number instead of a string.',
    hint: '`manta config explain KEY` shows the type and an example',
    message: (e) => `'${e.what}' must be ${e.wanted}, not ${e.got}${e.value === '' ? '' : ` ${e.value}`}`,
    advise: (e) => e.advice,
  }),
  OutOfRange: error<{ what: string; value: string; minimum: number }>('OUT_OF_RANGE', {
    title: 'a number that is too small',
    meaning: "The number is below the key's minimum.",
    hint: 'use a larger number',
    message: (e) => `'${e.what}' is ${e.value}, but must be at least ${e.minimum}`,
  }),
  BadChoice: error<{ what: string; value: string; choices: readonly string[]; nearest?: string | undefined }>(
    'BAD_CHOICE',
    {
      title: 'a value that is not among the choices',
      meaning: 'The key takes one of a few values.',
      hint: '`manta config explain KEY` lists the values',
      message: (e) => `'${e.what}' is ${e.value}, but must be one of ${e.choices.join(', ')}`,
      advise: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
    },
  ),
  CommandIsMapping: error<{ what: string; key: string }>('COMMAND_IS_MAPPING', {
    title: 'a command that YAML reads as a mapping',
    meaning: "YAML reads an unquoted command that contains ': ' (colon, space) as a mapping.",
    hint: "quote the whole command with '…', or write it as a block after `- |`",
    message: (e) => `'${e.what}' is not a command: YAML reads the ': ' in it as a mapping with the key '${e.key}'`,
  }),
  DuplicateKey: warning<{ what: string; line: number }>('DUPLICATE_KEY', {
    title: 'a duplicate key',
    meaning:
      'When a key occurs twice in a mapping, YAML keeps the last one and silently drops the others. Ray does the same.',
    hint: 'remove one of them, or merge their values',
    message: (e) => `'${e.what}' is set again on line ${e.line}: this one has no effect`,
  }),
  EmptyValue: warning<{ what: string; write: string }>('EMPTY_VALUE', {
    title: 'a key without a value',
    meaning: 'The key has no value. Manta treats it as empty; Ray rejects it.',
    hint: 'write the empty value, or remove the key',
    message: (e) => `'${e.what}' has no value and is treated as empty`,
    advise: (e) => `write \`${e.write}\`, or remove the key`,
  }),
  RayRefuses: warning<{ what: string; why: string; write?: string | undefined }>('RAY_REFUSES', {
    title: 'fine for Manta, rejected by Ray',
    meaning: 'Manta accepts the file; `ray up` would reject it for this reason.',
    hint: 'ignore this unless the file must also work with `ray up`',
    message: (e) => `'${e.what}' ${e.why}: fine here, rejected by \`ray up\``,
    advise: (e) => (e.write === undefined ? undefined : `to keep it working with \`ray up\`, write \`${e.write}\``),
  }),
};
