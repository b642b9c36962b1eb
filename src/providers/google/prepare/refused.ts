import type { MantaError } from '../../../base/errors.ts';
import { providerErrors } from '../../errors.ts';
import { googleFailure } from '../client/refusals.ts';
import { preparationErrors } from '../errors.ts';

export const isStatus =
  (...statuses: readonly number[]) =>
  (error: unknown): boolean =>
    statuses.includes(googleFailure(error)?.status ?? 0);

export const isAbsent = isStatus(404);
export const isThere = isStatus(409);
/** It may not be done, or its API is switched off: what only makes a plan better does without it. */
export const isDenied = (error: unknown): boolean =>
  isStatus(401, 403)(error) ||
  preparationErrors.MissingPermission.is(error) ||
  preparationErrors.ServiceDisabled.is(error);

const requiredPermission = /'([a-zA-Z]+(?:\.[a-zA-Z]+)+)' permission for '([^']+)'/;

/** What the user is told of a refusal that no caller expects; undefined where the client's own error says enough. */
export function explain(error: unknown, call: string, project: string): MantaError | undefined {
  if (!providerErrors.Denied.is(error)) return undefined;
  const refusal = googleFailure(error);
  if (refusal === undefined) return undefined;
  const facts = refusal.details.find(({ metadata }) => metadata !== undefined)?.metadata ?? {};
  if (refusal.reason === 'SERVICE_DISABLED' || refusal.reason === 'accessNotConfigured') {
    const service = facts['service'] ?? `${call.split('.')[0]}.googleapis.com`;
    return preparationErrors.ServiceDisabled({ service, project }, error);
  }
  if (refusal.status !== 403) return undefined;
  // Compute Engine tells the permission in its words alone: `Required 'P' permission for 'R'`.
  const { message } = refusal;
  const told = requiredPermission.exec(message);
  const permission = facts['permission'] ?? told?.[1];
  if (permission === undefined) return undefined;
  return preparationErrors.MissingPermission({ permission, resource: facts['resource'] ?? told?.[2], call }, error);
}
