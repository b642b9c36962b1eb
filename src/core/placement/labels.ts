import { ownValue } from '../../base/own-value.ts';
import type { LabelRule, Labels } from '../resources.ts';

/** Reads one value of Ray's label selectors: `v`, `!v`, `in(a,b)`, `!in(a,b)`. */
export function readLabelRule(label: string, value: string): LabelRule {
  const found = /^(!?)(?:in\((.*)\)|(.*))$/s.exec(value.trim());
  const values = found?.[2]?.split(',').map((each) => each.trim()) ?? [found?.[3] ?? ''];
  return { label, operator: found?.[1] ? 'not-in' : 'in', values };
}

/** A node without the label fits `not-in` and no other rule, as in Ray. */
export function matchesLabels(wanted: Labels, has: Labels): boolean {
  return Object.entries(wanted).every(([label, value]) => {
    const there = ownValue(has, label);
    // Nothing has to be read of most rules of a job that names a hundred labels.
    if (there === undefined) return value.trimStart().startsWith('!');
    const rule = readLabelRule(label, value);
    return (rule.operator === 'in') === rule.values.includes(there);
  });
}
