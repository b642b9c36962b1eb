import { defineError } from '../../base/errors.ts';
import type { RayRefusal } from './prose.ts';

export const rayErrors = {
  NotAllowed: defineError<{ call: string; detail: string }>({
    code: 'MANTA_RAY_NOT_ALLOWED',
    exit: 6,
    message: (e) => `Ray did not accept the token for '${e.call}': ${e.detail}`,
    hint: () => "the token in the head's environment and the one that Manta uses must be the same",
  }),
  Refused: defineError<{ call: string; detail: string; refusal?: RayRefusal }>({
    code: 'MANTA_RAY_REFUSED',
    exit: 6,
    message: (e) => `Ray refused '${e.call}': ${e.detail}`,
  }),
  TlsUnreadable: defineError<{ variable: string; path: string; detail: string }>({
    code: 'MANTA_RAY_TLS_UNREADABLE',
    exit: 6,
    message: (e) => `Ray's head runs with TLS, and mantad cannot read '${e.path}' of ${e.variable}: ${e.detail}`,
    hint: () => 'mantad speaks to Ray with the certificates of its head: its user must be able to read them',
  }),
  PackageTooLarge: defineError<{ name: string; size: string; limit: string }>({
    code: 'MANTA_RAY_PACKAGE_TOO_LARGE',
    exit: 6,
    message: (e) => `package '${e.name}' has ${e.size}, and Ray takes at most ${e.limit} of one`,
    hint: () => 'leave large files out with .rayignore or excludes, or put them where the nodes can fetch them',
  }),
};
