import * as v from 'valibot';
import type { Schema } from './schema.ts';

/** What is wrong with a value from outside, and where in it. */
export interface Wrong {
  /** `resources.CPU`, `gang.bundles[0]`; `the body` for all of it. */
  readonly field: string;
  readonly problem: string;
}

const longestName = 100;

/** The value as its schema has it, or the first thing that is wrong with it. */
export function check<Each extends Schema>(
  schema: Each,
  value: unknown,
  whole: string,
): { readonly value: v.InferOutput<Each> } | { readonly wrong: Wrong } {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return { value: result.output };
  const [issue] = result.issues;
  return { wrong: { field: fieldOf(issue.path ?? []) || whole, problem: issue.message } };
}

function fieldOf(path: readonly { readonly key?: unknown }[]): string {
  let field = '';
  for (const { key } of path) {
    const name = String(key).slice(0, longestName);
    if (typeof key === 'number') field += `[${name}]`;
    else field += field === '' ? name : `.${name}`;
  }
  return field;
}

/** A query as its schema wants it: numbers where it asks for numbers. What is given empty is not given. */
export function readQuery(
  entries: v.ObjectEntries,
  given: (name: string) => string | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, schema]) => {
      const text = given(name);
      if (text === undefined || text === '') return [];
      return [[name, isNumeric(schema) && /^\d{1,15}$/.test(text) ? Number(text) : text]];
    }),
  );
}

function isNumeric(schema: v.ObjectEntries[string]): boolean {
  return 'wrapped' in schema ? isNumeric(schema.wrapped) : schema.type === 'number';
}
