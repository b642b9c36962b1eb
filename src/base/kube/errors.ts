import { defineError } from '../errors.ts';

interface Asked {
  /** The address of the API server. */
  server: string;
}

/** What was asked of the API server, in its own words: `list pods in the namespace 'default'`. */
interface Call {
  call: string;
  detail: string;
}

/** Why an API server of Kubernetes does not do what it is asked. The kind chooses the branch. */
export const kubeErrors = {
  NoConfig: defineError<{ files: readonly string[] }>({
    code: 'MANTA_KUBE_NO_CONFIG',
    exit: 3,
    message: (e) => `no kubeconfig: ${e.files.map((file) => `'${file}'`).join(', ')} does not exist`,
    hint: () =>
      "create one with your provider's command, such as 'gcloud container clusters get-credentials', or set KUBECONFIG",
  }),
  BadConfig: defineError<{ file: string; detail: string }>({
    code: 'MANTA_KUBE_BAD_CONFIG',
    exit: 2,
    message: (e) => `cannot read the kubeconfig '${e.file}': ${e.detail}`,
    hint: () => "'kubectl config view' shows what is in it",
  }),
  NoContext: defineError<{ context: string | undefined; known: readonly string[] }>({
    code: 'MANTA_KUBE_NO_CONTEXT',
    exit: 2,
    message: (e) =>
      e.context === undefined
        ? 'the kubeconfig has no current context'
        : `the kubeconfig has no context '${e.context}'`,
    hint: (e) => (e.known.length === 0 ? 'it has no contexts' : `give --context one of: ${e.known.join(', ')}`),
  }),
  Incomplete: defineError<{ context: string; missing: 'cluster' | 'user'; name: string }>({
    code: 'MANTA_KUBE_INCOMPLETE',
    exit: 2,
    message: (e) => `the context '${e.context}' names the ${e.missing} '${e.name}', which the kubeconfig does not have`,
    hint: () => "'kubectl config view' shows what is in it",
  }),
  NoPlugin: defineError<{ command: string; context: string; install?: string | undefined }>({
    code: 'MANTA_KUBE_NO_PLUGIN',
    exit: 3,
    message: (e) => `the context '${e.context}' logs in with '${e.command}', which is not installed on this machine`,
    hint: (e) => e.install ?? `install '${e.command}', or put it on PATH`,
  }),
  PluginFailed: defineError<{ command: string; context: string; detail: string }>({
    code: 'MANTA_KUBE_PLUGIN_FAILED',
    exit: 4,
    message: (e) => `'${e.command}', which logs in for the context '${e.context}', failed: ${e.detail}`,
    hint: (e) => `your login may have expired: log in again, then run '${e.command}' by hand to check that it works`,
  }),
  LoginFailed: defineError<{ context: string; detail: string }>({
    code: 'MANTA_KUBE_LOGIN_FAILED',
    exit: 4,
    message: (e) => `could not log in for the context '${e.context}': ${e.detail}`,
    hint: () => "check with 'kubectl auth whoami'",
  }),
  LoginRefused: defineError<Asked & { context: string }>({
    code: 'MANTA_KUBE_LOGIN_REFUSED',
    exit: 4,
    message: (e) =>
      `${e.server} does not accept the login of the context '${e.context}': it has expired or is not valid there`,
    hint: () => 'log in again, or fetch the kubeconfig again',
  }),
  Forbidden: defineError<Call>({
    code: 'MANTA_KUBE_FORBIDDEN',
    exit: 4,
    message: (e) => `you may not ${e.call}: ${e.detail}`,
    hint: () => "ask for the permissions that 'manta kube check --rbac' prints",
  }),
  Unreachable: defineError<Asked & { detail: string }>({
    code: 'MANTA_KUBE_UNREACHABLE',
    exit: 6,
    message: (e) => `cannot reach the API server at ${e.server}: ${e.detail}`,
    hint: () => 'check that the cluster, and the network or VPN, are up; --context chooses another cluster',
  }),
  Untrusted: defineError<Asked & { detail: string }>({
    code: 'MANTA_KUBE_UNTRUSTED',
    exit: 4,
    message: (e) => `cannot trust the certificate of ${e.server}: ${e.detail}`,
    hint: () =>
      'fetch the kubeconfig again; if a proxy intercepts connections, add its CA certificate to the kubeconfig',
  }),
  NotFound: defineError<Call>({
    code: 'MANTA_KUBE_NOT_FOUND',
    exit: 4,
    message: (e) => `cannot ${e.call}: ${e.detail}`,
  }),
  Conflict: defineError<Call>({
    code: 'MANTA_KUBE_CONFLICT',
    exit: 1,
    message: (e) => `cannot ${e.call}: ${e.detail}`,
    hint: () => 'someone else changed it, or owns these fields; look at it and try again',
  }),
  Invalid: defineError<Call>({
    code: 'MANTA_KUBE_INVALID',
    exit: 1,
    message: (e) => `the API server refuses to ${e.call}: ${e.detail}`,
  }),
  Expired: defineError<Call>({
    code: 'MANTA_KUBE_EXPIRED',
    exit: 6,
    message: (e) => `cannot ${e.call}: the API server no longer has this version of the list (${e.detail})`,
    hint: () => 'try again',
  }),
  Failed: defineError<Call & { status: number }>({
    code: 'MANTA_KUBE_FAILED',
    exit: 6,
    message: (e) => `the API server could not ${e.call}: ${e.detail} (status ${e.status})`,
    hint: () => 'try again; the logs of kube-apiserver say more',
  }),
};
