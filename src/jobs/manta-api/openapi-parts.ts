/** Words for writing an OpenAPI document in TypeScript. */

export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const amount: Schema = { type: 'number' };
export const whole: Schema = { type: 'integer' };
export const amounts: Schema = { type: 'object', additionalProperties: amount };
export const texts: Schema = { type: 'object', additionalProperties: text };
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

export type Paths = Readonly<Record<string, Readonly<Record<string, Schema>>>>;

export const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
});
const failed = json('What was wrong, and what to do next', ref('Error'));
export const answers = (good: Schema, status = '200'): Schema => ({ [status]: good, default: failed });
export const inPath = (name: string): Schema => ({ name, in: 'path', required: true, schema: text });
export const inQuery = (name: string, schema: Schema, description: string): Schema => ({
  name,
  in: 'query',
  schema,
  description,
});
export const body = (schema: Schema): Schema => ({ required: true, content: { 'application/json': { schema } } });
