import { defineError } from '../base/errors.ts';

/** What can stop a command on a node before it is the command's own doing. */
export const execErrors = {
  NotUp: defineError<{ name: string; host: string }>({
    code: 'MANTA_EXEC_NOT_UP',
    exit: 4,
    message: (e) => `there is no node of the cluster '${e.name}' on ${e.host}`,
    hint: () => "'manta up' starts the cluster; --start does so first",
  }),
  NotOverSsh: defineError<{ name: string }>({
    code: 'MANTA_EXEC_NOT_OVER_SSH',
    exit: 2,
    message: (e) => `the cluster '${e.name}' runs on this machine and is not reached over SSH`,
    hint: () => "run the command here; 'manta job submit' runs it in the cluster",
  }),
  Lost: defineError<{ host: string }>({
    code: 'MANTA_EXEC_LOST',
    exit: 6,
    message: (e) => `the connection to ${e.host} ended before the command did, so its exit code is not known`,
    hint: () => 'what it ran is ended there with the connection; with --tmux a command goes on without one',
  }),
  CommandTooLong: defineError<{ bytes: number; most: number }>({
    code: 'MANTA_EXEC_COMMAND_TOO_LONG',
    exit: 2,
    message: (e) => `the command takes ${e.bytes} bytes with its quotes, and a command line holds at most ${e.most}`,
    hint: () => "write it to a file: 'manta submit CLUSTER FILE' copies a script to the head and runs it there",
  }),
  PortBusy: defineError<{ port: number; why: string }>({
    code: 'MANTA_EXEC_PORT_BUSY',
    exit: 1,
    message: (e) => `port ${e.port} of this machine cannot be forwarded: ${e.why}`,
    hint: (e) => `nothing was started; end what listens on ${e.port} ('ss -ltnp' shows it)`,
  }),
  UnknownNode: defineError<{ word: string; name: string; known: readonly string[] }>({
    code: 'MANTA_EXEC_UNKNOWN_NODE',
    exit: 2,
    message: (e) => `'${e.word}' is no node of the cluster '${e.name}'`,
    hint: (e) => `its nodes are: ${e.known.join(', ')}; an id of an instance or of a node of Ray is understood too`,
  }),
  AmbiguousNode: defineError<{ word: string; matches: readonly string[] }>({
    code: 'MANTA_EXEC_AMBIGUOUS_NODE',
    exit: 2,
    message: (e) => `'${e.word}' is the beginning of several nodes: ${e.matches.join(', ')}`,
    hint: () => 'give more of it',
  }),
  NobodyToAsk: defineError<{ question: string }>({
    code: 'MANTA_EXEC_NOBODY_TO_ASK',
    exit: 2,
    message: (e) => `nobody is at the terminal to answer: ${e.question}`,
    hint: () => 'give --yes',
  }),
  KeyMoved: defineError<{ host: string; seen: string; now: readonly string[] }>({
    code: 'MANTA_HOST_KEY_MOVED',
    exit: 4,
    message: (e) =>
      `${e.host} showed the host key ${e.seen} and then ${e.now.join(', ') || 'none'}; nothing was pinned`,
    hint: () => 'two machines answer under this address: find out which is yours before you go on',
  }),
  NoWorkers: defineError<{ name: string }>({
    code: 'MANTA_EXEC_NO_WORKERS',
    exit: 1,
    message: (e) => `the cluster '${e.name}' has no worker`,
  }),
  NotEnded: defineError<{ instance: string }>({
    code: 'MANTA_EXEC_NOT_ENDED',
    exit: 1,
    message: (e) => `${e.instance} was not ended: something else is being done to it just now`,
    hint: (e) => `'manta why ${e.instance}' says what; run the command again`,
  }),
  NoMultiplexer: defineError<{ host: string; kind: string }>({
    code: 'MANTA_SESSION_NO_MULTIPLEXER',
    exit: 3,
    message: (e) => `${e.host} has no ${e.kind}`,
    hint: (e) => `install it there, or use --${e.kind === 'tmux' ? 'screen' : 'tmux'}`,
  }),
  SessionNotStarted: defineError<{ host: string; kind: string; detail: string }>({
    code: 'MANTA_SESSION_NOT_STARTED',
    exit: 1,
    message: (e) => `the command could not be started in a ${e.kind} on ${e.host}: ${e.detail}`,
  }),
  UnknownSession: defineError<{ id: string; known: readonly string[] }>({
    code: 'MANTA_SESSION_UNKNOWN',
    exit: 2,
    message: (e) => `there is no session '${e.id}'`,
    hint: (e) =>
      e.known.length === 0
        ? "sessions are what 'manta exec' and 'manta submit' start with --tmux or --screen"
        : `there is: ${e.known.join(', ')}`,
  }),
  SessionClosed: defineError<{ id: string; outcome: string }>({
    code: 'MANTA_SESSION_CLOSED',
    exit: 1,
    message: (e) => `the session '${e.id}' cannot be attached to: it has ${e.outcome}`,
    hint: (e) => `'manta sessions --log ${e.id}' shows its output`,
  }),
  NoScript: defineError<{ script: string }>({
    code: 'MANTA_SUBMIT_NO_SCRIPT',
    exit: 2,
    message: (e) => `there is no file '${e.script}'`,
  }),
  NotCopied: defineError<{ script: string; where: string; detail: string }>({
    code: 'MANTA_SUBMIT_NOT_COPIED',
    exit: 1,
    message: (e) => `'${e.script}' could not be copied to ${e.where}: ${e.detail}`,
  }),
  ArgsTwice: defineError({
    code: 'MANTA_SUBMIT_ARGS_TWICE',
    exit: 2,
    message: () => 'words for the script were given with --args and behind it',
    hint: () => "write them behind --: 'manta submit CLUSTER script.py -- --epochs 3'",
  }),
  HalfPaths: defineError<{ given: string }>({
    code: 'MANTA_RSYNC_HALF_PATHS',
    exit: 2,
    message: (e) => `expected either both a source and a target or neither, and got '${e.given}' alone`,
    hint: () => 'SOURCE and TARGET stand behind CLUSTER; without them all file_mounts are copied',
  }),
};
