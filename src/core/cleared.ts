/** A machine on which something of the cluster is left, or of which nobody knows. */
export interface Left {
  readonly host: string;
  readonly why: string;
}

/** What the end of a cluster's machines came to. */
export interface Cleared {
  /** Those that were ended, by name. */
  readonly ended: readonly string[];
  readonly left: readonly Left[];
}
