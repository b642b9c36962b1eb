import type { MantaError } from '../errors.ts';
import { readOutsideJson } from '../outside-json.ts';
import type { KubeAccess } from './config.ts';
import { kubeErrors } from './errors.ts';

const byStatus = new Map([
  [403, kubeErrors.Forbidden],
  [404, kubeErrors.NotFound],
  [409, kubeErrors.Conflict],
  [410, kubeErrors.Expired],
  [400, kubeErrors.Invalid],
  [415, kubeErrors.Invalid],
  [422, kubeErrors.Invalid],
]);

/** The error for an answer that is not what was asked for, by its status; its text is only for people. */
export function refusalOf(status: number, body: string, call: string, access: KubeAccess): MantaError {
  if (status === 401) return kubeErrors.LoginRefused({ server: access.server, context: access.context });
  const detail = messageIn(body) || `status ${status}`;
  const kind = byStatus.get(status);
  return kind === undefined ? kubeErrors.Failed({ call, detail, status }) : kind({ call, detail });
}

/** API servers answer with a `Status`; what stands before them may answer with anything. */
function messageIn(body: string): string {
  try {
    const { message } = readOutsideJson(body) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not JSON: its first line has to do.
  }
  return body.trim().split('\n')[0]?.slice(0, 300) ?? '';
}
