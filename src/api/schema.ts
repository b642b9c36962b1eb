/** Words for writing the schemas of bodies, queries and answers. What is wrong with a value is said by its schema. */
import * as v from 'valibot';
import { latestInstant } from '../base/time/clock.ts';

export type Schema = v.GenericSchema;

/** What a schema stands for in TypeScript. */
export type Wire<Each extends Schema> = ReadonlyDeep<v.InferOutput<Each>>;

type ReadonlyDeep<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> } : Value;

export const text = v.string('is not a string');
export const flag = v.boolean('is neither true nor false');
/** JSON has no infinity, but `1e999` is read as one. */
export const amount = v.pipe(
  v.number('is not a number'),
  v.check((value: number) => Number.isFinite(value), 'is not a number'),
);
export const whole = v.pipe(v.number('is not a whole number'), v.integer('is not a whole number'));
export const count = v.pipe(whole, v.minValue(0, 'is less than 0'));

/** Milliseconds since 1970. */
export const instant = v.pipe(
  count,
  v.maxValue(latestInstant, 'is later than the year 9999'),
  v.description('Milliseconds since 1970'),
);

export const between = (least: number, most: number) => {
  const range = `is not ${least} to ${most}`;
  return v.pipe(whole, v.minValue(least, range), v.maxValue(most, range));
};
export const textUpTo = (most: number) => v.pipe(text, v.maxLength(most, `is longer than ${most} characters`));
export const oneOf = <const Values extends readonly string[]>(...values: Values) =>
  v.picklist(values, `is not one of ${values.join(', ')}`);
export const listOf = <Each extends Schema>(each: Each) => v.array(each, 'is not a list');

/** May be left out. */
export const maybe = <Each extends Schema>(each: Each) => v.exactOptional(each);
/** May be left out; `null` counts as left out. */
export const orNull = <Each extends Schema>(each: Each) => v.nullish(each);

/** Part of an answer. Keys may be added to answers, so others than these are no mistake. */
export const object = <Entries extends v.ObjectEntries>(entries: Entries) => v.object(entries, 'is not an object');

/** What a client sends: other keys than these are refused. `what` it is: `a job`. */
export function given<Entries extends v.ObjectEntries>(what: string, entries: Entries) {
  const known = Object.keys(entries).join(', ');
  const schema = v.strictObject(entries, ({ expected, received }) => {
    if (expected === 'never') return `is not a key of ${what}; known keys: ${known}`;
    return received === 'undefined' ? 'is missing' : 'is not an object';
  });
  const run = schema['~run'];
  return Object.assign(schema, {
    // A list is an object too, for the library.
    '~run': (dataset: v.UnknownDataset, config: Config) =>
      run.call(schema, Array.isArray(dataset.value) ? { value: 'a list' } : dataset, config),
  });
}

type Config = v.Config<v.BaseIssue<unknown>>;

/** Values by names of the client's choice. The library would leave out some names, `constructor` among them. */
export function mapOf<Each extends Schema>(each: Each) {
  const schema = v.record(v.string(), each, 'is not an object');
  const run = schema['~run'];
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: Config) => {
      const input = dataset.value;
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        return run.call(schema, { value: undefined }, config);
      for (const [key, value] of Object.entries(input)) {
        const { issues } = each['~run']({ value }, config);
        if (issues === undefined) continue;
        const place = { type: 'object', origin: 'value', input: input as Record<string, unknown>, key, value } as const;
        const placed = issues.map((issue) => ({ ...issue, path: [place, ...(issue.path ?? [])] }));
        return { typed: false, value: input, issues: placed } as unknown as ReturnType<typeof run>;
      }
      return { typed: true, value: input } as ReturnType<typeof run>;
    },
  });
}

/** Anything that JSON can say, as an object. */
export const anything = mapOf(v.unknown());
export const amounts = mapOf(amount);
export const texts = mapOf(text);
