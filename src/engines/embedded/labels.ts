import { ownValue } from '../../base/own-value.ts';
import type { LabelRule, Labels } from '../../core/resources.ts';

/** Reads one value of Ray's label selectors: `v`, `!v`, `in(a,b)`, `!in(a,b)`. */
export function readLabelRule(label: string, value: string): LabelRule {
  const found = /^(!?)(?:in\((.*)\)|(.*))$/s.exec(value.trim());
  const values = found?.[2]?.split(',').map((each) => each.trim()) ?? [found?.[3] ?? ''];
  return { label, operator: found?.[1] ? 'not-in' : 'in', values };
}

/** A node without the label fits `not-in` and no other rule, as in Ray. */
export function matchesLabels(wanted: Labels, has: Labels): boolean {
  return Object.entries(wanted).every(([label, value]) => {
    const rule = readLabelRule(label, value);
    const there = ownValue(has, label);
    const listed = there !== undefined && rule.values.includes(there);
    return rule.operator === 'in' ? listed : !listed;
  });
}
