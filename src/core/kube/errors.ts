import { defineError } from '../../base/errors.ts';

/** What ends a command on manifests. */
export const manifestErrors = {
  Refused: defineError<{ files: readonly string[]; errors: number }>({
    code: 'MANTA_KUBE_MANIFEST_REFUSED',
    exit: 1,
    message: (e) => `nothing was applied: ${e.errors} ${e.errors === 1 ? 'error' : 'errors'} in ${e.files.join(', ')}`,
    hint: () => 'correct what is listed above',
  }),
  Unreadable: defineError<{ file: string; why: string }>({
    code: 'MANTA_KUBE_MANIFEST_UNREADABLE',
    exit: 2,
    message: (e) => `cannot read '${e.file}': ${e.why}`,
    hint: () => 'check the path and its permissions',
  }),
  Empty: defineError<{ file: string }>({
    code: 'MANTA_KUBE_MANIFEST_EMPTY',
    exit: 2,
    message: (e) => `'${e.file}' has no objects in it`,
    hint: () => 'give a file with manifests of Kubernetes',
  }),
  Failed: defineError<{ kind: string; name: string; says: string; next: string }>({
    code: 'MANTA_KUBE_NOT_UP',
    exit: 1,
    message: (e) => `the ${e.kind} '${e.name}' does not come up: ${e.says}`,
    hint: (e) => e.next,
  }),
  NobodyAgreed: defineError<{ objects: number }>({
    code: 'MANTA_KUBE_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `nobody can confirm a change of ${e.objects} ${e.objects === 1 ? 'object' : 'objects'} here`,
    hint: () => 'give --yes to go ahead without a question',
  }),
};
