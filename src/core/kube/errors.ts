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
  NothingToScale: defineError<Record<never, never>>({
    code: 'MANTA_KUBE_NOTHING_TO_SCALE',
    exit: 2,
    message: () => 'nothing in these files has a RayCluster that --scaler could put a planner into',
    hint: () => 'give a RayCluster, a RayService or a RayJob with a cluster of its own',
  }),
  NotScalable: defineError<{ kind: string; name: string; problem: string }>({
    code: 'MANTA_KUBE_NOT_SCALABLE',
    exit: 2,
    message: (e) => `the ${e.kind} '${e.name}' cannot be scaled: ${e.problem}`,
    hint: () => 'Ray itself goes by the same values',
  }),
  NobodyAgreed: defineError<{ objects: number }>({
    code: 'MANTA_KUBE_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `nobody can confirm a change of ${e.objects} ${e.objects === 1 ? 'object' : 'objects'} here`,
    hint: () => 'give --yes to go ahead without a question',
  }),
};
