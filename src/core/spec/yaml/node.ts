/** What a document is made of: one node for each value written, tags resolved, aliases not yet followed by a copy. */
export type Node = ScalarNode | SequenceNode | MappingNode;

interface Written {
  /** Offsets; anchor and tag are part of the node. */
  readonly start: number;
  end: number;
  tag: string;
}

export interface ScalarNode extends Written {
  readonly kind: 'scalar';
  readonly text: string;
}

export interface SequenceNode extends Written {
  readonly kind: 'sequence';
  readonly items: Use[];
}

export interface MappingNode extends Written {
  readonly kind: 'mapping';
  /** As written; merges are resolved in place when the mapping is constructed. */
  pairs: Pair[];
}

/** A node in the place where it is used: where it is written, or where an alias of it is. */
export interface Use {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
  readonly alias: boolean;
}

export interface Pair {
  readonly key: Use;
  readonly value: Use;
  /** Came in by a merge. */
  readonly merged: boolean;
}

export const STANDARD = 'tag:yaml.org,2002:';
