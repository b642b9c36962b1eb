import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { apiErrors } from '../api/errors.ts';
import type { ErrorAnswer } from '../api/types.ts';
import { MantaError } from '../base/errors.ts';
import { databaseErrors } from '../base/sqlite/errors.ts';
import { jobErrors } from './errors.ts';

/** The HTTP status of each kind of error; both parts of Manta's own API put theirs together from such tables. */
export type Statuses = readonly (readonly [ContentfulStatusCode, readonly StatusKind[]])[];

interface StatusKind {
  readonly code: string;
  readonly exit: number;
  is(value: unknown): boolean;
}

export const jobStatuses: Statuses = [
  [400, [jobErrors.Invalid, jobErrors.PackageName]],
  [403, [apiErrors.NotYours, apiErrors.AdminOnly]],
  [404, [jobErrors.NotFound, jobErrors.UserNotFound, jobErrors.PackageMissing]],
  [409, [jobErrors.Exists, jobErrors.NotOver, jobErrors.Needed, jobErrors.UserExists, jobErrors.LastAdmin]],
  [413, [jobErrors.PackageTooLarge, apiErrors.TooLarge]],
  [422, [jobErrors.Infeasible]],
  [429, [jobErrors.QueueFull, jobErrors.MemoryFull]],
  [503, [jobErrors.Closed]],
  [507, [databaseErrors.DiskFull]],
];

/** Code, words and next step of an error. */
export const errorBody = ({ code, message, hint }: MantaError): ErrorAnswer => ({
  error: { code, message, ...(hint !== undefined && { hint }) },
});

export const errorAnswer = (c: Context, error: MantaError, status: ContentfulStatusCode): Response =>
  c.json(errorBody(error), status);

/** The answer for what a handler threw; what nobody declared is a fault of Manta and goes up. */
export function failureAnswer(c: Context, thrown: unknown, statuses: Statuses): Response {
  const status = statuses.find(([, kinds]) => kinds.some((kind) => kind.is(thrown)))?.[0];
  if (!(thrown instanceof MantaError) || status === undefined) throw thrown;
  return errorAnswer(c, thrown, status);
}
