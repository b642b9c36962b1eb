import { defineError } from '../../base/errors.ts';

/** What ends a command about Serve. */
export const serveErrors = {
  Refused: defineError<{ words: string }>({
    code: 'MANTA_SERVE_REFUSED',
    exit: 1,
    message: (e) => `Serve refuses the config: ${e.words}`,
    hint: () => 'correct the config; the previous one keeps running',
  }),
  BadConfig: defineError<{ file: string; errors: number }>({
    code: 'MANTA_SERVE_BAD_CONFIG',
    exit: 1,
    message: (e) => `nothing was deployed: ${e.errors} ${e.errors === 1 ? 'error' : 'errors'} in ${e.file}`,
    hint: () => 'fix the errors listed above',
  }),
  Unreadable: defineError<{ file: string; why: string }>({
    code: 'MANTA_SERVE_UNREADABLE',
    exit: 2,
    message: (e) => `cannot read '${e.file}': ${e.why}`,
    hint: () => 'check the path and its permissions',
  }),
  Failed: defineError<{ cluster: string; says: string; next: string }>({
    code: 'MANTA_SERVE_NOT_UP',
    exit: 1,
    message: (e) => `the applications on ${e.cluster} did not come up: ${e.says}`,
    hint: (e) => e.next,
  }),
  NoRay: defineError<{ cluster: string }>({
    code: 'MANTA_SERVE_NO_RAY',
    exit: 2,
    message: (e) => `${e.cluster} has no Serve: it runs without Ray (the embedded engine)`,
    hint: () => "Serve is a library of Ray: 'manta up --engine ray' starts a cluster of real Ray on this machine",
  }),
  Managed: defineError<{ cluster: string }>({
    code: 'MANTA_SERVE_MANAGED',
    exit: 2,
    message: (e) => `${e.cluster} is a RayService: KubeRay would undo a change past its manifest`,
    hint: () => "apply the config with the manifest: 'manta kube apply --serve-config FILE MANIFEST'",
  }),
  NotInstalled: defineError<{ cluster: string }>({
    code: 'MANTA_SERVE_NOT_INSTALLED',
    exit: 3,
    message: (e) => `the Ray of ${e.cluster} has no Serve`,
    hint: () => "install it on every node: pip install 'ray[serve]' in setup_commands, or an image that has it",
  }),
  Down: defineError<{ cluster: string; words: string }>({
    code: 'MANTA_SERVE_NO_ANSWER',
    exit: 6,
    message: (e) => `Serve on ${e.cluster} does not answer: ${e.words}`,
    hint: () => 'try again; Ray may be starting or restarting',
  }),
  NoDeployment: defineError<{ application: string; deployment: string | undefined; known: readonly string[] }>({
    code: 'MANTA_SERVE_NO_DEPLOYMENT',
    exit: 2,
    message: (e) =>
      e.deployment === undefined
        ? `there is no application '${e.application}'`
        : `the application '${e.application}' has no deployment '${e.deployment}'`,
    hint: (e) => (e.known.length === 0 ? 'there are none' : `there are: ${e.known.join(', ')}`),
  }),
  Autoscaled: defineError<{ application: string; deployment: string }>({
    code: 'MANTA_SERVE_AUTOSCALED',
    exit: 2,
    message: (e) => `'${e.deployment}' of '${e.application}' scales by itself (autoscaling_config)`,
    hint: () => 'change min_replicas and max_replicas in the config, or remove autoscaling_config there',
  }),
  NotDeclared: defineError<{ application: string }>({
    code: 'MANTA_SERVE_NOT_DECLARED',
    exit: 2,
    message: (e) => `the application '${e.application}' was started by a program, not from a config`,
    hint: () => 'change it there, or deploy it from a config',
  }),
  OfRayService: defineError<{ name: string }>({
    code: 'MANTA_SERVE_OF_RAYSERVICE',
    exit: 2,
    message: (e) => `'${e.name}' is a RayService: KubeRay would deploy them again`,
    hint: (e) => `delete it with 'manta kube delete rayservice/${e.name}'`,
  }),
  NobodyAgreed: defineError<{ what: string }>({
    code: 'MANTA_SERVE_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `cannot ask for confirmation without a terminal: ${e.what}`,
    hint: () => 'add --yes to go ahead',
  }),
};
