import { defineError } from '../../base/errors.ts';

interface Line {
  readonly address: string;
  readonly why: string;
  /** What came back is no HTTP. */
  readonly notHttp?: boolean;
}

const wrongPort = ({ address, notHttp }: Line): string | undefined =>
  notHttp === true || address.endsWith(':6379')
    ? "is this the HTTP address? Ray's own port (6379) is another than that of its dashboard (8265)"
    : undefined;

/** What can keep a command from reaching a cluster. What a cluster itself refuses carries the code of its answer. */
export const clientErrors = {
  NoCluster: defineError<{ home: string }>({
    code: 'MANTA_CLIENT_NO_CLUSTER',
    exit: 4,
    message: (e) => `no cluster is named, and none runs on this machine (looked in ${e.home})`,
    hint: () => "start one with 'manta up', or name one with --address http://HOST:PORT",
  }),
  SeveralClusters: defineError<{ names: readonly string[] }>({
    code: 'MANTA_CLIENT_SEVERAL_CLUSTERS',
    exit: 2,
    message: (e) => `no cluster is named, and there are several: ${e.names.join(', ')}`,
    hint: () => 'choose one with -n NAME, or set MANTA_CLUSTER',
  }),
  TwoClusters: defineError<{ name: string; address: string }>({
    code: 'MANTA_CLIENT_TWO_CLUSTERS',
    exit: 2,
    message: (e) => `-n ${e.name} and --address ${e.address} name a cluster each`,
    hint: () => 'give one of them',
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
    message: (e) => `the headers of ${e.from} cannot be used: ${e.problem}`,
    hint: () => 'they are a JSON object of strings: {"name": "value"}',
  }),
  BadCertificates: defineError<{ path: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_CERTIFICATES',
    exit: 2,
    message: (e) => `the certificates '${e.path}' of --verify cannot be read: ${e.problem}`,
    hint: () => '--verify takes true, false, or the path of a file or folder of trusted certificates',
  }),
  NoToken: defineError<{ file: string; problem: string }>({
    code: 'MANTA_CLIENT_NO_TOKEN',
    exit: 4,
    message: (e) => `the access token in ${e.file} cannot be read: ${e.problem}`,
    hint: () => 'the file holds the token on its first line and is readable by you alone',
  }),
  Unreachable: defineError<Line>({
    code: 'MANTA_CLIENT_UNREACHABLE',
    exit: 6,
    message: (e) => `${e.address} does not answer: ${e.why}`,
    hint: (e) => wrongPort(e) ?? 'is the cluster up, and the address right? A tunnel that has closed looks the same',
  }),
  Broken: defineError<Line>({
    code: 'MANTA_CLIENT_BROKEN',
    exit: 6,
    message: (e) => `the connection to ${e.address} broke: ${e.why}`,
    hint: (e) => wrongPort(e) ?? 'run the command again',
  }),
  SubmitUnanswered: defineError<{ job: string; why: string }>({
    code: 'MANTA_CLIENT_SUBMIT_UNANSWERED',
    exit: 6,
    message: (e) => `the job was sent as '${e.job}' and the answer was lost, so that it may have been taken: ${e.why}`,
    hint: (e) =>
      `'manta job status ${e.job}' says whether it was; the same command with --submission-id ${e.job} never makes a second one`,
  }),
  Unauthenticated: defineError<{ address: string; sent: boolean; words: string }>({
    code: 'MANTA_CLIENT_UNAUTHENTICATED',
    exit: 4,
    message: (e) =>
      e.sent
        ? `${e.address} does not accept this token (${e.words})`
        : `${e.address} asks for a token and none was found (${e.words})`,
    hint: () =>
      'a cluster of this machine is reached by -n NAME; for others set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, or put the token in ~/.ray/auth_token',
  }),
  ServerFault: defineError<{ address: string; status: number; words: string }>({
    code: 'MANTA_CLIENT_SERVER_FAULT',
    exit: 6,
    message: (e) => `${e.address} failed with HTTP ${e.status}${e.words === '' ? '' : `: ${e.words}`}`,
    hint: () => "the reason is in the head's log; 'manta cluster-dump' collects it",
  }),
  Refused: defineError<{ words: string; status: number; exists?: boolean }>({
    code: 'MANTA_CLIENT_REFUSED',
    exit: 1,
    message: (e) => (e.words === '' ? `the head refused with HTTP ${e.status}` : e.words),
  }),
  NotManta: defineError<{ address: string; what: string }>({
    code: 'MANTA_CLIENT_NOT_MANTA',
    exit: 2,
    message: (e) => `${e.address} is Ray without Manta and cannot do this: ${e.what}`,
    hint: () => 'a plain Ray head takes the job commands submit, list, status, logs, wait, stop and delete',
  }),
  NoHead: defineError<{ address: string; path: string }>({
    code: 'MANTA_CLIENT_NO_HEAD',
    exit: 2,
    message: (e) => `${e.address} is no head of a cluster: its answer to ${e.path} is of another kind`,
    hint: () => 'give the HTTP address of the head, such as http://127.0.0.1:8265; something else may listen there',
  }),
  BadRuntimeEnv: defineError<{ from: string; problem: string }>({
    code: 'MANTA_CLIENT_BAD_RUNTIME_ENV',
    exit: 2,
    message: (e) => `${e.from}: ${e.problem}`,
  }),
};
