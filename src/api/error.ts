import { maybe, object, text, type Wire } from './schema.ts';

/** The body of every answer from 400 on. */
export const errorAnswer = object({
  error: object({ code: text, message: text, hint: maybe(text) }),
});
export type ErrorAnswer = Wire<typeof errorAnswer>;
