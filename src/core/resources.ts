import { ownValue } from '../base/own-value.ts';
/** Amounts by resource name: `CPU`, `GPU`, `memory` (bytes), custom names. A missing name is zero. */
export type Resources = Readonly<Record<string, number>>;

/** The amount under a name; zero when it is missing, also for names that every object has (`constructor`). */
export const amountOf = (amounts: Resources, name: string): number => ownValue(amounts, name) ?? 0;

/** All parts together. A name may be any text, `__proto__` too. */
export function sumResources(parts: Iterable<Resources>): Resources {
  const sums = new Map<string, number>();
  for (const part of parts)
    for (const [name, amount] of Object.entries(part)) sums.set(name, (sums.get(name) ?? 0) + amount);
  return Object.fromEntries(sums);
}

/** Whether the name is a placement group's share of a resource, which only nodes that hold the group have. */
export const isShare = (name: string): boolean => /_group_(?:\d+_)?[0-9a-f]{36}$/.test(name);

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

export interface LabelRule {
  readonly label: string;
  readonly operator: 'in' | 'not-in';
  readonly values: readonly string[];
}

/** All rules must hold. */
export type LabelSelector = readonly LabelRule[];
