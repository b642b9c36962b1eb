/** Amounts by resource name: `CPU`, `GPU`, `memory` (bytes), custom names. A missing name is zero. */
export type Resources = Readonly<Record<string, number>>;

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

export interface LabelRule {
  readonly label: string;
  readonly operator: 'in' | 'not-in';
  readonly values: readonly string[];
}

/** All rules must hold. */
export type LabelSelector = readonly LabelRule[];
