/** Every reason why a text is not YAML that Ray can read; `docs/errors.md` lists the codes. */
export interface YamlProblem {
  readonly code: string;
  readonly title: string;
  readonly meaning: string;
  readonly hint: string;
}

const declare = (what: string, title: string, meaning: string, hint: string): YamlProblem => ({
  code: `MANTA_SPEC_YAML_${what}`,
  title,
  meaning,
  hint,
});

export const yamlProblems = {
  syntax: declare(
    'SYNTAX',
    'not valid YAML',
    'The text cannot be read as YAML. The position is where reading stopped; the mistake is there or just before it.',
    "look at this line and the one above it: indentation, a missing ':' or quote, an unclosed bracket",
  ),
  tab: declare(
    'TAB',
    'a tab where YAML wants spaces',
    'YAML does not allow tabs for indentation or before a value.',
    'replace the tab with spaces',
  ),
  character: declare(
    'CHARACTER',
    'a character that YAML does not allow',
    'The text contains a control character or half of a surrogate pair, which YAML does not allow.',
    'remove the character, or write it as an escape inside double quotes',
  ),
  encoding: declare(
    'ENCODING',
    'not UTF-8 text',
    'The bytes of the file are not valid UTF-8.',
    'save the file as UTF-8',
  ),
  documents: declare(
    'DOCUMENTS',
    'more than one document',
    "A cluster file is one YAML document; a second '---' starts another one.",
    "keep one document, or remove the second '---'",
  ),
  alias: declare(
    'ALIAS',
    'an alias without its anchor',
    'An alias `*name` needs an anchor `&name` further up in the file.',
    "define the anchor above, or quote the value if it is text that starts with '*'",
  ),
  anchor: declare(
    'ANCHOR',
    'an anchor defined twice',
    'The same anchor name is defined more than once, which PyYAML rejects.',
    'rename one of the anchors',
  ),
  tag: declare(
    'TAG',
    'a tag that is not allowed',
    'Only the plain tags of YAML (!!str, !!int, !!float, !!bool, !!null, !!timestamp, !!seq, !!map, !!omap, !!pairs) can be used in a cluster file.',
    "remove the tag, or quote the value if it is text that starts with '!'",
  ),
  value: declare(
    'VALUE',
    'a value that cannot be read',
    'The value looks like a number, a date or a boolean, or is tagged as one, but is not a valid one.',
    'quote the value if it is meant as text',
  ),
  key: declare(
    'KEY',
    'a key that is a list or a mapping',
    'Keys must be plain values. Unquoted `{{ name }}` of a template reads as a mapping inside a mapping.',
    'quote the value if it is text; render the file first if it is a template',
  ),
  merge: declare(
    'MERGE',
    'a merge of something that is not a mapping',
    "'<<' takes a mapping or a list of mappings.",
    "give '<<' an alias of a mapping",
  ),
  recursive: declare(
    'RECURSIVE',
    'a value that contains itself',
    'An alias refers to a collection that contains it.',
    'write the value out where it is used',
  ),
  tooBig: declare(
    'TOO_BIG',
    'a file that is too big',
    'Cluster files are limited to 1 MiB; real ones are a few kilobytes.',
    'check that this is the right file; move data into file_mounts',
  ),
  tooDeep: declare(
    'TOO_DEEP',
    'nested too deeply',
    'Collections inside collections are limited to 100 levels.',
    'check that this is the right file',
  ),
  expansion: declare(
    'EXPANSION',
    'aliases that expand to too much',
    'Aliases and merges repeat so much that the whole value would exceed 16 MiB.',
    'use fewer nested aliases',
  ),
} as const satisfies Record<string, YamlProblem>;

/** Text of the file in a message is cut, so that a message stays one line. */
const LONGEST_MESSAGE = 200;

/** Ends the reading of a text; never leaves `readYaml`. */
export class YamlError extends Error {
  readonly problem: YamlProblem;
  readonly offset: number;
  readonly hint: string;

  constructor(problem: YamlProblem, offset: number, message: string, hint = problem.hint) {
    super(message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
    this.problem = problem;
    this.offset = offset;
    this.hint = hint;
  }
}
