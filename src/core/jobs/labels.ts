import { ownValue } from '../../base/own-value.ts';
import type { LabelRule, LabelSelector, Labels } from '../resources.ts';

/**
 * Ray's label selector of an entrypoint: `value`, `!value`, `in(a, b)` or `!in(a, b)` by label name. Undefined when a
 * value is none of these.
 */
export function parseSelector(selector: Labels): LabelSelector | undefined {
  const rules: LabelRule[] = [];
  for (const [label, text] of Object.entries(selector)) {
    const match = /^(!?)(?:in\(([^()]*)\)|([A-Za-z0-9]?[A-Za-z0-9._-]*))$/.exec(text.trim());
    if (!match) return undefined;
    const values = match[2] === undefined ? [match[3] ?? ''] : match[2].split(',').map((value) => value.trim());
    rules.push({ label, operator: match[1] === '!' ? 'not-in' : 'in', values });
  }
  return rules;
}

/** A label that is missing is never `in` and always `not-in`. */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((rule) => {
    const value = ownValue(labels, rule.label);
    const within = value !== undefined && rule.values.includes(value);
    return rule.operator === 'in' ? within : !within;
  });
}
