import { defineError } from '../../base/errors.ts';

/** What ends a command on manifests. */
export const manifestErrors = {
  Refused: defineError<{ files: readonly string[]; errors: number }>({
    code: 'MANTA_KUBE_MANIFEST_REFUSED',
    exit: 1,
    message: (e) => `nothing was applied: ${e.errors} ${e.errors === 1 ? 'error' : 'errors'} in ${e.files.join(', ')}`,
    hint: () => 'fix the errors listed above',
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
    hint: () => 'give a file with Kubernetes manifests',
  }),
  Failed: defineError<{ kind: string; name: string; says: string; next: string }>({
    code: 'MANTA_KUBE_NOT_UP',
    exit: 1,
    message: (e) => `the ${e.kind} '${e.name}' did not come up: ${e.says}`,
    hint: (e) => e.next,
  }),
  NothingToScale: defineError({
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
    message: (e) =>
      `cannot ask for confirmation without a terminal; ${e.objects} ${e.objects === 1 ? 'object was' : 'objects were'} not applied`,
    hint: () => 'add --yes to go ahead, or --plan to only see what would change',
  }),
  NoKind: defineError<{ kind: string; apiVersion: string }>({
    code: 'MANTA_KUBE_NO_KIND',
    exit: 3,
    message: (e) => `the API server has no kind '${e.kind}' in ${e.apiVersion}`,
    hint: (e) =>
      e.apiVersion.startsWith('ray.io/')
        ? "KubeRay's CRDs are missing or too old there: 'manta kube install' says which release fits"
        : 'install what defines this kind first',
  }),
  UnknownFields: defineError<{ kind: string; name: string; fields: readonly { at: string; says: string }[] }>({
    code: 'MANTA_KUBE_UNKNOWN_FIELD',
    exit: 1,
    message: (e) =>
      `the API server does not know ${e.fields.length === 1 ? 'a field' : `${e.fields.length} fields`} of the ${e.kind} '${e.name}':${e.fields.map(({ at, says }) => `\n  ${at}: ${says}`).join('')}`,
    hint: () => 'correct them; nothing was applied',
  }),
  Conflict: defineError<{ kind: string; name: string; detail: string; keeper: string | undefined }>({
    code: 'MANTA_KUBE_OWNED',
    exit: 1,
    message: (e) => `another tool owns fields of the ${e.kind} '${e.name}' that this would change: ${e.detail}`,
    hint: (e) =>
      e.keeper === undefined
        ? '--force-conflicts takes them over'
        : `change them where ${e.keeper} has them from; what --force-conflicts takes over, it may take back`,
  }),
  NothingToRollBack: defineError<{ kind: string; name: string }>({
    code: 'MANTA_KUBE_NO_ROLLBACK',
    exit: 1,
    message: (e) => `no earlier spec of the ${e.kind} '${e.name}' is kept`,
    hint: () => "'manta kube apply' keeps the last two that came up while it waited",
  }),
  NoService: defineError<{ found: number }>({
    code: 'MANTA_KUBE_SERVE_CONFIG_PLACE',
    exit: 2,
    message: (e) =>
      `--serve-config needs one RayService in the files, and there ${e.found === 1 ? 'is' : 'are'} ${e.found}`,
    hint: () => 'give the file with the RayService, alone',
  }),
  BadName: defineError<{ word: string }>({
    code: 'MANTA_KUBE_BAD_OBJECT',
    exit: 2,
    message: (e) => `'${e.word}' is neither a file nor KIND/NAME`,
    hint: () => 'write rayservice/NAME, raycluster/NAME, rayjob/NAME or raycronjob/NAME',
  }),
  Helm: defineError<{ kind: string; name: string; release: string }>({
    code: 'MANTA_KUBE_HELM_OWNS',
    exit: 1,
    message: (e) => `the ${e.kind} '${e.name}' belongs to ${e.release}, and is left to it`,
    hint: () => "upgrade it with 'helm upgrade'; CRDs, which Helm never upgrades, can be applied alone",
  }),
  StillThere: defineError<{ objects: readonly string[]; why: string }>({
    code: 'MANTA_KUBE_STILL_THERE',
    exit: 1,
    message: (e) =>
      `${e.objects.join(', ')} ${e.objects.length === 1 ? 'is' : 'are'} still there when the time was up${e.why}`,
    hint: () => 'wait longer with --timeout; finalizers are removed by the operator, so it has to run',
  }),
  Kustomize: defineError<{ folder: string }>({
    code: 'MANTA_KUBE_KUSTOMIZATION',
    exit: 2,
    message: (e) => `'${e.folder}' is a kustomization, not a folder of manifests`,
    hint: (e) => `render it first: 'kubectl kustomize ${e.folder} > rendered.yaml'`,
  }),
  Chart: defineError<{ folder: string }>({
    code: 'MANTA_KUBE_CHART',
    exit: 2,
    message: (e) => `'${e.folder}' is a Helm chart, not a folder of manifests`,
    hint: (e) => `render it first: 'helm template RELEASE ${e.folder} --include-crds > rendered.yaml'`,
  }),
};
