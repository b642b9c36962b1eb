import { defineError } from '../base/errors.ts';

interface Line {
  readonly address: string;
  readonly why: string;
  /** The response was not HTTP. */
  readonly notHttp?: boolean;
}

const wrongPort = ({ address, notHttp }: Line): string | undefined =>
  notHttp === true || address.endsWith(':6379')
    ? "is this the HTTP address? Ray's own port (6379) is not the dashboard's port (8265)"
    : undefined;

/** What can keep a command from reaching a cluster. What a cluster itself refuses carries the code of its answer. */
export const clientErrors = {
  NoCluster: defineError<{ home: string }>({
    code: 'MANTA_CLIENT_NO_CLUSTER',
    exit: 4,
    message: (e) => `no cluster given, and none is running on this machine (looked in ${e.home})`,
    hint: () => "start one with 'manta up', or pass --address http://HOST:PORT",
  }),
  SeveralClusters: defineError<{ names: readonly string[] }>({
    code: 'MANTA_CLIENT_SEVERAL_CLUSTERS',
    exit: 2,
    message: (e) => `no cluster given, and there are several: ${e.names.join(', ')}`,
    hint: () => 'choose one with -n NAME, or set MANTA_CLUSTER',
  }),
  TwoClusters: defineError<{ name: string; address: string }>({
    code: 'MANTA_CLIENT_TWO_CLUSTERS',
    exit: 2,
    message: (e) => `-n ${e.name} and --address ${e.address} both select a cluster`,
    hint: () => 'use only one of them',
  }),
  BadAddress: defineError<{ address: string; from: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_ADDRESS',
    exit: 2,
    message: (e) => `the address '${e.address}' (from ${e.from}) ${e.problem}`,
    hint: () => 'give the HTTP address of the head, such as http://127.0.0.1:8265',
  }),
  BadHeaders: defineError<{ from: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_HEADERS',
    exit: 2,
    message: (e) => `invalid headers in ${e.from}: ${e.problem}`,
    hint: () => 'headers are a JSON object of strings: {"name": "value"}',
  }),
  BadCertificates: defineError<{ path: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_CERTIFICATES',
    exit: 2,
    message: (e) => `cannot read the certificates '${e.path}' given with --verify: ${e.problem}`,
    hint: () => '--verify takes true, false, or the path of a file or directory of trusted certificates',
  }),
  NoToken: defineError<{ file: string; problem: string }>({
    code: 'MANTA_CLIENT_NO_TOKEN',
    exit: 4,
    message: (e) => `cannot read the access token in ${e.file}: ${e.problem}`,
    hint: () => 'the first line of the file must be the token, and only you may read it',
  }),
  Unreachable: defineError<Line>({
    code: 'MANTA_CLIENT_UNREACHABLE',
    exit: 6,
    message: (e) => `cannot connect to ${e.address}: ${e.why}`,
    hint: (e) =>
      wrongPort(e) ?? 'check that the cluster is up, the address is right, and any tunnel to it is still open',
  }),
  Broken: defineError<Line>({
    code: 'MANTA_CLIENT_BROKEN',
    exit: 6,
    message: (e) => `lost the connection to ${e.address}: ${e.why}`,
    hint: (e) => wrongPort(e) ?? 'run the command again',
  }),
  SubmitUnanswered: defineError<{ job: string; why: string }>({
    code: 'MANTA_CLIENT_SUBMIT_UNANSWERED',
    exit: 6,
    message: (e) => `job '${e.job}' was sent but the response was lost, so it may have been submitted: ${e.why}`,
    hint: (e) =>
      `check with 'manta job status ${e.job}'; retrying with --submission-id ${e.job} never creates a second job`,
  }),
  Unauthenticated: defineError<{ address: string; sent: boolean; words: string }>({
    code: 'MANTA_CLIENT_UNAUTHENTICATED',
    exit: 4,
    message: (e) =>
      e.sent
        ? `${e.address} does not accept this token (${e.words})`
        : `${e.address} requires a token and none was found (${e.words})`,
    hint: () =>
      'for a cluster on this machine use -n NAME; for others set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, or put the token in ~/.ray/auth_token',
  }),
  ServerFault: defineError<{ address: string; status: number; words: string }>({
    code: 'MANTA_CLIENT_SERVER_FAULT',
    exit: 6,
    message: (e) => `${e.address} failed with HTTP ${e.status}${e.words === '' ? '' : `: ${e.words}`}`,
    hint: () => "see the head's log; 'manta cluster-dump' collects it",
  }),
  Refused: defineError<{ words: string; status: number; exists?: boolean }>({
    code: 'MANTA_CLIENT_REFUSED',
    exit: 1,
    message: (e) => (e.words === '' ? `the head refused the request (HTTP ${e.status})` : e.words),
  }),
  NotManta: defineError<{ address: string; what: string }>({
    code: 'MANTA_CLIENT_NOT_MANTA',
    exit: 2,
    message: (e) => `${e.address} is a Ray head without Manta, which does not support ${e.what}`,
    hint: () => 'a plain Ray head supports the job commands submit, list, status, logs, wait, stop and delete',
  }),
  NoHead: defineError<{ address: string; path: string }>({
    code: 'MANTA_CLIENT_NO_HEAD',
    exit: 2,
    message: (e) => `${e.address} is not a Manta head (unexpected response to ${e.path})`,
    hint: () =>
      'another program may be listening there; use the HTTP address of the head, such as http://127.0.0.1:8265',
  }),
  BadRuntimeEnv: defineError<{ from: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_RUNTIME_ENV',
    exit: 2,
    message: (e) => `${e.from}: ${e.problem}`,
  }),
  /** `isThere`: its folder exists, so a daemon may still start to serve it. */
  NotServed: defineError<{ name: string; host: string; isThere: boolean }>({
    code: 'MANTA_HEAD_NOT_SERVED',
    exit: 4,
    message: (e) => `mantad of the cluster '${e.name}' is not running on ${e.host}`,
    hint: (e) =>
      `start it with 'manta up' and its cluster file; ${e.host}:~/.manta/head/clusters/${e.name}/mantad.log shows why it stopped`,
  }),
};
