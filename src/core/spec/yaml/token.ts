/** The words a YAML text is made of. `text` is how a message names them. */
export const tokenNames = {
  'stream-end': 'the end of the file',
  directive: 'a directive',
  'document-start': "'---'",
  'document-end': "'...'",
  'block-sequence-start': 'a list',
  'block-mapping-start': 'a mapping',
  'block-end': 'the end of the block',
  'sequence-open': "'['",
  'mapping-open': "'{'",
  'sequence-close': "']'",
  'mapping-close': "'}'",
  entry: "'-'",
  comma: "','",
  key: 'a key',
  value: "':'",
  alias: 'an alias',
  anchor: 'an anchor',
  tag: 'a tag',
  scalar: 'a value',
} as const;

export type TokenKind = keyof typeof tokenNames;

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Of scalars, anchors and aliases. */
  readonly text?: string;
  /** A scalar without quotes or block indicator: its type follows from its text. */
  readonly plain?: boolean;
  readonly tag?: TagToken;
  readonly directive?: Directive;
}

export interface TagToken {
  /** Undefined for a verbatim tag and for the lone `!`. */
  readonly handle?: string;
  readonly suffix: string;
}

export type Directive =
  | { readonly name: 'YAML'; readonly major: number }
  | { readonly name: 'TAG'; readonly handle: string; readonly prefix: string }
  | { readonly name: 'other' };
