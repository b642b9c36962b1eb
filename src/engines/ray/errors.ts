import { defineError } from '../../base/errors.ts';
import type { ParsedRefusal } from './jobs/prose.ts';

export const rayErrors = {
  NotAllowed: defineError<{ call: string; detail: string }>({
    code: 'MANTA_RAY_NOT_ALLOWED',
    exit: 6,
    message: (e) => `Ray did not accept the token for '${e.call}': ${e.detail}`,
    hint: () => "the token in the head's environment must match the one that Manta uses",
  }),
  Refused: defineError<{ call: string; detail: string; refusal?: ParsedRefusal }>({
    code: 'MANTA_RAY_REFUSED',
    exit: 6,
    message: (e) => `Ray refused '${e.call}': ${e.detail}`,
  }),
  TlsUnreadable: defineError<{ variable: string; path: string; detail: string }>({
    code: 'MANTA_RAY_TLS_UNREADABLE',
    exit: 6,
    message: (e) => `Ray's head uses TLS, but mantad cannot read '${e.path}' from ${e.variable}: ${e.detail}`,
    hint: () => "mantad connects to Ray with the head's certificates, so its user must be able to read them",
  }),
  PackageTooLarge: defineError<{ name: string; size: string; limit: string }>({
    code: 'MANTA_RAY_PACKAGE_TOO_LARGE',
    exit: 6,
    message: (e) => `package '${e.name}' is too large: ${e.size}, and Ray's limit is ${e.limit}`,
    hint: () => 'exclude large files with .rayignore or excludes, or store them where the nodes can download them',
  }),
};
