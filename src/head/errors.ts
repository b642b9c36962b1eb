import { defineError } from '../base/errors.ts';

/** What can be wrong with a cluster's state folder and its daemon. */
export const headErrors = {
  NodeEnded: defineError<{ instance: string; detail: string }>({
    code: 'MANTA_HEAD_NODE_ENDED',
    exit: 5,
    message: (e) => `the node on ${e.instance} exited before it joined Ray: ${e.detail}`,
    hint: (e) => `see instances/.ended/${e.instance}/agent.log in the state folder`,
  }),
  NoExtension: defineError<{ until?: string | undefined }>({
    code: 'MANTA_HEAD_NO_EXTENSION',
    exit: 2,
    message: (e) =>
      e.until === undefined
        ? 'cannot extend the cluster: the request has no usable duration or time'
        : `cannot extend the cluster until ${e.until}: the time must be in the future`,
    hint: () => 'give a duration such as 2h, or --until with a later time',
  }),
  AlreadyServed: defineError<{ folder: string; pid: number }>({
    code: 'MANTA_HEAD_ALREADY_SERVED',
    exit: 4,
    message: (e) => `another mantad (pid ${e.pid}) is already serving ${e.folder}`,
    hint: () => "shut it down with 'manta down', or wait until it exits",
  }),
  PortTaken: defineError<{ port: number }>({
    code: 'MANTA_HEAD_PORT_TAKEN',
    exit: 4,
    message: (e) => `port ${e.port} is already in use`,
    hint: () => 'choose another with --port, or leave it out to use any free port',
  }),
  NotEnded: defineError<{ host: string; left: readonly string[] }>({
    code: 'MANTA_HEAD_NOT_ENDED',
    exit: 4,
    message: (e) => `could not stop Ray on ${e.host}: ${e.left.join(', ')} still running`,
    hint: (e) => `they may belong to another user: log in to ${e.host} with 'manta ssh' and kill them there`,
  }),
  HeadSilent: defineError<{ address: string; port: number; seconds: number }>({
    code: 'MANTA_HEAD_SILENT',
    exit: 4,
    message: (e) => `Ray's head at ${e.address}:${e.port} did not open its port within ${e.seconds} s`,
    hint: () => "see 'manta logs head' for the head's startup output",
  }),
  NoRayHere: defineError<{ name: string }>({
    code: 'MANTA_HEAD_NO_RAY_HERE',
    exit: 4,
    message: (e) => `the record of the cluster '${e.name}' does not say which Python has Ray`,
    hint: (e) => `run 'manta up -n ${e.name} --engine ray' again`,
  }),
  BadRayCluster: defineError<{ name: string; problem: string }>({
    code: 'MANTA_HEAD_BAD_RAYCLUSTER',
    exit: 4,
    message: (e) => `the RayCluster '${e.name}' cannot be scaled: ${e.problem}`,
    hint: () => "'manta kube apply --scaler manta' says so before it applies a manifest",
  }),
  NoSuchThing: defineError<{ kind: string; id: string }>({
    code: 'MANTA_HEAD_NO_SUCH_THING',
    exit: 1,
    message: (e) => `there is no ${e.kind} '${e.id.slice(0, 200)}'`,
    hint: () => "'manta status -v' lists nodes, 'manta job list' lists jobs",
  }),
  BadBundles: defineError<{ problem: string }>({
    code: 'MANTA_HEAD_BAD_BUNDLES',
    exit: 2,
    message: (e) => `invalid resource request: ${e.problem}`,
    hint: () => 'send {"bundles": [{"resources": {"CPU": 2}, "count": 3}]}; an empty list withdraws the request',
  }),
  BadDrain: defineError<{ problem: string }>({
    code: 'MANTA_HEAD_BAD_DRAIN',
    exit: 2,
    message: (e) => `invalid drain request: ${e.problem}`,
    hint: () => 'send {"reason": "idle"}, or {"reason": "preemption", "within": MILLISECONDS}',
  }),
  GatewayBadRequest: defineError<{ problem: string }>({
    code: 'MANTA_GATEWAY_BAD_REQUEST',
    exit: 2,
    message: (e) => `ambiguous request: ${e.problem}`,
    hint: () => 'send a path without escaped slashes, and each header once',
  }),
  GatewayBusy: defineError({
    code: 'MANTA_GATEWAY_BUSY',
    exit: 6,
    message: () => 'too many connections from this user, or too many requests on this connection',
    hint: () => 'close some, or try again in a moment',
  }),
  GatewayNoAnswer: defineError<{ address: string; why: string }>({
    code: 'MANTA_GATEWAY_NO_ANSWER',
    exit: 6,
    message: (e) => `Ray's dashboard at ${e.address} is not responding: ${e.why}`,
    hint: () => "Ray may still be starting, see 'manta status' and 'manta events'; you can submit jobs meanwhile",
  }),
  GatewayTokenRefused: defineError<{ address: string; status: number }>({
    code: 'MANTA_GATEWAY_TOKEN_REFUSED',
    exit: 6,
    message: (e) => `Ray's dashboard at ${e.address} rejected mantad's token (HTTP ${e.status})`,
    hint: () => "run 'manta up' with the cluster file to restart Ray with that token",
  }),
};
