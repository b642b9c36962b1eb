import { defineError } from '../base/errors.ts';
import type { Path } from '../core/spec/problem.ts';

/** What can stop a command that changes a cluster. */
export const launcherErrors = {
  Busy: defineError<{ name: string; pid: number }>({
    code: 'MANTA_LAUNCHER_BUSY',
    exit: 4,
    message: (e) => `another command (pid ${e.pid}) is changing the cluster '${e.name}'`,
    hint: (e) =>
      `wait for it to finish or interrupt it ('kill -INT ${e.pid}'), then try again; every run resumes where the last one stopped`,
  }),
  BusyElsewhere: defineError<{ name: string; holder: string }>({
    code: 'MANTA_LAUNCHER_BUSY_ELSEWHERE',
    exit: 4,
    message: (e) => `${e.holder} is changing the cluster '${e.name}'`,
    hint: () => 'wait for it to finish, then try again; the lock of a machine that died expires within a minute',
  }),
  HalfDown: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_HALF_DOWN',
    exit: 4,
    message: (e) => `an earlier 'manta down' of the cluster '${e.name}' did not finish`,
    hint: (e) => `finish it with 'manta down -n ${e.name}'; add --forget to give up on hosts that do not respond`,
  }),
  HeadMoved: defineError<{ name: string; before: string; now: string }>({
    code: 'MANTA_LAUNCHER_HEAD_MOVED',
    exit: 4,
    message: (e) => `the cluster '${e.name}' is running with its head on ${e.before}, but the file now says ${e.now}`,
    hint: (e) =>
      `shut it down with 'manta down ${e.name}' (add --forget if that machine is gone), or choose another name with -n`,
  }),
  TurningOff: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_TURNING_OFF',
    exit: 4,
    message: (e) => `the cluster '${e.name}' started to shut itself down and has not finished`,
    hint: (e) => `finish it with 'manta down -n ${e.name}', then run 'manta up' again`,
  }),
  HeadNewer: defineError<{ name: string; head: string; client: string }>({
    code: 'MANTA_LAUNCHER_HEAD_NEWER',
    exit: 4,
    message: (e) => `the cluster '${e.name}' runs Manta ${e.head}, which is newer than the ${e.client} on this machine`,
    hint: (e) => `upgrade Manta on this machine to ${e.head}; a head is never downgraded`,
  }),
  UpgradeUndone: defineError<{ name: string; from: string; to: string; why: string; log: string }>({
    code: 'MANTA_LAUNCHER_UPGRADE_UNDONE',
    exit: 6,
    message: (e) =>
      `mantad ${e.to} did not start for the cluster '${e.name}', so it was rolled back to ${e.from}: ${e.why}`,
    hint: (e) => `jobs and nodes were not affected; see the log at ${e.log}`,
  }),
  UpgradePending: defineError<{ name: string; host: string; to: string }>({
    code: 'MANTA_LAUNCHER_UPGRADE_PENDING',
    exit: 6,
    message: (e) => `mantad ${e.to} has not started on ${e.host} yet (cluster '${e.name}')`,
    hint: () => "run 'manta up' again to keep waiting; if the new version never starts, the previous one is restored",
  }),
  NotApplied: defineError<{ url: string; status: number }>({
    code: 'MANTA_LAUNCHER_NOT_APPLIED',
    exit: 4,
    message: (e) => `mantad at ${e.url} rejected the cluster file (HTTP ${e.status})`,
    hint: () => "'manta events' shows why",
  }),
  StillThere: defineError<{ name: string; what: readonly string[] }>({
    code: 'MANTA_LAUNCHER_STILL_THERE',
    exit: 4,
    message: (e) => `'manta down' left parts of the cluster '${e.name}' running: ${e.what.join(', ')}`,
    hint: () => 'run it again; it lists whatever it cannot stop',
  }),
  PortTaken: defineError<{ port: number }>({
    code: 'MANTA_LAUNCHER_PORT_TAKEN',
    exit: 4,
    message: (e) => `port ${e.port} is already in use on this machine`,
    hint: () => 'choose another with --port',
  }),
  NoTunnel: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NO_TUNNEL',
    exit: 4,
    message: (e) => `no tunnel to the cluster '${e.name}' is open on this machine`,
    hint: (e) => `open one with 'manta dashboard ${e.name}' in another terminal, then try again`,
  }),
  HeadNotListed: defineError<{ name: string; instance: string }>({
    code: 'MANTA_LAUNCHER_HEAD_NOT_LISTED',
    exit: 4,
    message: (e) => `the head of '${e.name}' (instance ${e.instance}) is neither running nor terminated`,
    hint: () => "if it was stopped in the cloud, start it there; otherwise shut down the cluster with 'manta down'",
  }),
  NoPolicies: defineError<{ file: string; provider: string }>({
    code: 'MANTA_LAUNCHER_NO_POLICIES',
    exit: 2,
    message: (e) => `'${e.file}' runs on '${e.provider}', which has no policies`,
    hint: () => 'this provider needs no permissions to be granted',
  }),
  SeveralClusters: defineError<{
    name: string;
    found: readonly { readonly id: string; readonly instances: readonly string[] }[];
  }>({
    code: 'MANTA_LAUNCHER_SEVERAL_CLUSTERS',
    exit: 4,
    message: (e) =>
      `the cloud has several clusters named '${e.name}', and this machine started none of them:\n${e.found
        .map(({ id, instances }) => `  ${id}: ${instances.length === 0 ? 'no instances' : instances.join(', ')}`)
        .join('\n')}`,
    hint: () =>
      "run 'manta down' on the machine that started the one you mean, or terminate its instances in the cloud",
  }),
  HeadRefused: defineError<{ name: string; type: string; tried: readonly string[] }>({
    code: 'MANTA_LAUNCHER_HEAD_REFUSED',
    exit: 5,
    message: (e) =>
      `the cloud has no instance of ${e.type} for the head of '${e.name}':\n${e.tried.map((each) => `  ${each}`).join('\n')}`,
    hint: () => 'add zones or markets to the file, choose another instance type for the head, or try again later',
  }),
  HeadEnded: defineError<{ name: string; instance: string; reason?: string | undefined }>({
    code: 'MANTA_LAUNCHER_HEAD_ENDED',
    exit: 4,
    message: (e) =>
      `the head of '${e.name}' (instance ${e.instance}) was terminated before it was up${e.reason === undefined ? '' : `: ${e.reason}`}`,
    hint: () => "unless someone shut the cluster down on purpose, run 'manta up' again",
  }),
  HeadNotBooted: defineError<{ name: string; seconds: number }>({
    code: 'MANTA_LAUNCHER_HEAD_NOT_BOOTED',
    exit: 5,
    message: (e) => `the head of '${e.name}' still has no address after ${e.seconds} s`,
    hint: () => "run 'manta up' again to keep waiting, or 'manta down' to cancel",
  }),
  NotUpYet: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NOT_UP_YET',
    exit: 4,
    message: (e) => `the cluster '${e.name}' has no head yet`,
    hint: () => "create one with 'manta up' and its cluster file",
  }),
  NoLoginKey: defineError<{ at: Path; key: string }>({
    code: 'MANTA_LAUNCHER_NO_LOGIN_KEY',
    exit: 2,
    message: (e) => `the private key ${e.key} does not exist on this machine, so nobody could log in to the head`,
    hint: (e) =>
      `copy it there, create one with 'ssh-keygen -t ed25519 -f ${e.key}', or remove ssh_private_key to have a key created`,
  }),
  LoginKeyClosed: defineError<{ at: Path; key: string; detail: string }>({
    code: 'MANTA_LAUNCHER_LOGIN_KEY_CLOSED',
    exit: 2,
    message: (e) => `cannot read the public key that belongs to ${e.key}: ${e.detail}`,
    hint: (e) =>
      `if the private key has a passphrase, save its public key once with 'ssh-keygen -y -f ${e.key} > ${e.key}.pub'`,
  }),
  OutdatedStart: defineError<{ at: Path; command: string; flag: string; now: string }>({
    code: 'MANTA_LAUNCHER_OUTDATED_START',
    exit: 2,
    message: (e) => `Ray cannot start: \`ray start\` no longer has ${e.flag} (in '${e.command}')`,
    hint: (e) => `write ${e.now} for ${e.flag}, or remove the start commands to use the default ones`,
  }),
  NotAgreed: defineError<{ name: string; plan: string }>({
    code: 'MANTA_LAUNCHER_NOT_AGREED',
    exit: 2,
    message: (e) =>
      `cannot ask for confirmation without a terminal; nothing was done to '${e.name}'\n${e.plan.trimEnd()}`,
    hint: () => 'add --yes to go ahead, or --plan to only see the plan',
  }),
  NotConfirmed: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `cannot ask for confirmation without a terminal; the cluster '${e.name}' was not shut down`,
    hint: () => 'add --yes to shut it down; --keep-state keeps its jobs and their output for the next `manta up`',
  }),
  NoBundle: defineError<{ detail: string }>({
    code: 'MANTA_LAUNCHER_NO_BUNDLE',
    exit: 4,
    message: (e) => `could not bundle the programs for the head: ${e.detail}`,
    hint: () => "run 'npm run build' in the checkout to see why",
  }),
  NoNode: defineError<{ platform: string; arch: string; detail: string }>({
    code: 'MANTA_LAUNCHER_NO_NODE',
    exit: 4,
    message: (e) => `the head has no Node 24, and Manta could not get one for ${e.platform}-${e.arch}: ${e.detail}`,
    hint: () => 'install Node 24 or newer on the head; a login shell must find it as `node`',
  }),
  UnknownCluster: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_UNKNOWN_CLUSTER',
    exit: 2,
    message: (e) => `'${e.name}' is neither a cluster file nor a cluster started from this machine`,
    hint: () => 'pass the cluster file: it works from any machine that can reach the head over SSH',
  }),
  NoHeadAddress: defineError<{ file: string }>({
    code: 'MANTA_LAUNCHER_NO_HEAD_ADDRESS',
    exit: 2,
    message: (e) => `${e.file} does not name the head`,
    hint: () => "add 'head_ip:' under provider",
  }),
  NotShipped: defineError<{ host: string; what: string; detail: string }>({
    code: 'MANTA_LAUNCHER_NOT_SHIPPED',
    exit: 4,
    message: (e) => `could not copy ${e.what} to ${e.host}: ${e.detail}`,
    hint: () => 'check that the disk has space and the home directory is writable there, then try again',
  }),
  MountMissing: defineError<{ remote: string; local: string; looked: readonly string[] }>({
    code: 'MANTA_LAUNCHER_MOUNT_MISSING',
    exit: 2,
    message: (e) =>
      `the source of the file mount '${e.remote}' does not exist: '${e.local}' (looked for ${e.looked.join(' and ')})`,
    hint: () => 'correct the path under file_mounts; nothing was changed',
  }),
  NoSshThere: defineError<{ host: string }>({
    code: 'MANTA_LAUNCHER_NO_SSH_THERE',
    exit: 4,
    message: (e) => `${e.host} has no ssh-keygen; the head needs OpenSSH to reach its workers`,
    hint: () => "install the OpenSSH client on the head, for example with 'sudo apt-get install openssh-client'",
  }),
  HeadUnreached: defineError<{ name: string; host: string; why: string; next?: string | undefined }>({
    code: 'MANTA_LAUNCHER_HEAD_UNREACHED',
    exit: 4,
    message: (e) => `cannot reach the head of '${e.name}' (${e.host}), so nothing was shut down: ${e.why}`,
    hint: (e) =>
      `${e.next ?? 'try again when the head responds'}; --forget shuts down what it can reach and gives up on the rest`,
  }),
  StartFailed: defineError<{ name: string; log: string; detail: string }>({
    code: 'MANTA_HEAD_START_FAILED',
    exit: 4,
    message: (e) => `the daemon of cluster '${e.name}' did not start: ${e.detail}`,
    hint: (e) => `see its log at ${e.log}`,
  }),
  ExecNotUp: defineError<{ name: string; host: string }>({
    code: 'MANTA_EXEC_NOT_UP',
    exit: 4,
    message: (e) => `the cluster '${e.name}' has no node running on ${e.host}`,
    hint: () => "start the cluster with 'manta up', or add --start",
  }),
  ExecNotOverSsh: defineError<{ name: string }>({
    code: 'MANTA_EXEC_NOT_OVER_SSH',
    exit: 2,
    message: (e) => `the cluster '${e.name}' runs on this machine, so there is no host to connect to over SSH`,
    hint: () => "run the command directly, or use 'manta job submit' to run it in the cluster",
  }),
  ExecLost: defineError<{ host: string }>({
    code: 'MANTA_EXEC_LOST',
    exit: 6,
    message: (e) => `lost the connection to ${e.host} while the command was running; its exit code is unknown`,
    hint: () => 'the command was killed with the connection; use --tmux to keep a command running without one',
  }),
  ExecCommandTooLong: defineError<{ bytes: number; most: number }>({
    code: 'MANTA_EXEC_COMMAND_TOO_LONG',
    exit: 2,
    message: (e) => `the command is too long: ${e.bytes} bytes including quotes, the limit is ${e.most}`,
    hint: () => "put it in a script: 'manta submit CLUSTER FILE' copies it to the head and runs it there",
  }),
  ExecPortBusy: defineError<{ port: number; why: string }>({
    code: 'MANTA_EXEC_PORT_BUSY',
    exit: 1,
    message: (e) => `cannot forward port ${e.port} of this machine: ${e.why}`,
    hint: (e) => `nothing was started; stop the program that uses port ${e.port} ('ss -ltnp' shows it)`,
  }),
  ExecUnknownNode: defineError<{ word: string; name: string; known: readonly string[] }>({
    code: 'MANTA_EXEC_UNKNOWN_NODE',
    exit: 2,
    message: (e) => `the cluster '${e.name}' has no node '${e.word}'`,
    hint: (e) => `its nodes are: ${e.known.join(', ')}; instance ids and Ray node ids work too`,
  }),
  ExecAmbiguousNode: defineError<{ word: string; matches: readonly string[] }>({
    code: 'MANTA_EXEC_AMBIGUOUS_NODE',
    exit: 2,
    message: (e) => `'${e.word}' matches several nodes: ${e.matches.join(', ')}`,
    hint: () => 'give more characters',
  }),
  ExecNobodyToAsk: defineError<{ question: string }>({
    code: 'MANTA_EXEC_NOBODY_TO_ASK',
    exit: 2,
    message: (e) => `cannot ask without a terminal: ${e.question}`,
    hint: () => 'add --yes to go ahead',
  }),
  ExecKeyMoved: defineError<{ host: string; seen: string; now: readonly string[] }>({
    code: 'MANTA_HOST_KEY_MOVED',
    exit: 4,
    message: (e) =>
      `${e.host} showed the host key ${e.seen} and then ${e.now.join(', ') || 'none'}; nothing was pinned`,
    hint: () => 'two machines may be answering at this address: find out which one is yours before you continue',
  }),
  ExecNoWorkers: defineError<{ name: string }>({
    code: 'MANTA_EXEC_NO_WORKERS',
    exit: 1,
    message: (e) => `the cluster '${e.name}' has no workers`,
  }),
  ExecNotEnded: defineError<{ instance: string }>({
    code: 'MANTA_EXEC_NOT_ENDED',
    exit: 1,
    message: (e) => `could not terminate ${e.instance}: another operation on it is in progress`,
    hint: (e) => `see 'manta why ${e.instance}', then try again`,
  }),
  ExecNoMultiplexer: defineError<{ host: string; kind: string }>({
    code: 'MANTA_SESSION_NO_MULTIPLEXER',
    exit: 3,
    message: (e) => `${e.kind} is not installed on ${e.host}`,
    hint: (e) => `install it there, or use --${e.kind === 'tmux' ? 'screen' : 'tmux'}`,
  }),
  ExecSessionNotStarted: defineError<{ host: string; kind: string; detail: string }>({
    code: 'MANTA_SESSION_NOT_STARTED',
    exit: 1,
    message: (e) => `could not start the command in ${e.kind} on ${e.host}: ${e.detail}`,
  }),
  ExecUnknownSession: defineError<{ id: string; known: readonly string[] }>({
    code: 'MANTA_SESSION_UNKNOWN',
    exit: 2,
    message: (e) => `there is no session '${e.id}'`,
    hint: (e) =>
      e.known.length === 0
        ? "start one with --tmux or --screen of 'manta exec' and 'manta submit'"
        : `sessions: ${e.known.join(', ')}`,
  }),
  ExecSessionClosed: defineError<{ id: string; outcome: string }>({
    code: 'MANTA_SESSION_CLOSED',
    exit: 1,
    message: (e) => `cannot attach to the session '${e.id}': it has ${e.outcome}`,
    hint: (e) => `'manta sessions --log ${e.id}' shows its output`,
  }),
  ExecNoScript: defineError<{ script: string }>({
    code: 'MANTA_SUBMIT_NO_SCRIPT',
    exit: 2,
    message: (e) => `script not found: '${e.script}'`,
  }),
  ExecNotCopied: defineError<{ script: string; where: string; detail: string }>({
    code: 'MANTA_SUBMIT_NOT_COPIED',
    exit: 1,
    message: (e) => `could not copy '${e.script}' to ${e.where}: ${e.detail}`,
  }),
  ExecArgsTwice: defineError({
    code: 'MANTA_SUBMIT_ARGS_TWICE',
    exit: 2,
    message: () => 'arguments for the script were given twice: with --args and after the script',
    hint: () => "put them after --: 'manta submit CLUSTER script.py -- --epochs 3'",
  }),
  ExecHalfPaths: defineError<{ given: string }>({
    code: 'MANTA_RSYNC_HALF_PATHS',
    exit: 2,
    message: (e) => `expected a source and a target, or neither, but got only '${e.given}'`,
    hint: () => 'put SOURCE and TARGET after CLUSTER; without them, all file_mounts are copied',
  }),
  VenvNotRay: defineError<{ python: string; detail: string }>({
    code: 'MANTA_RAY_VENV_NOT_RAY',
    exit: 2,
    message: (e) => `cannot use '${e.python}' from MANTA_RAY_PYTHON: ${e.detail}`,
    hint: () => "set it to a Python that has 'ray[default]', or unset it",
  }),
  VenvNoPython: defineError<{ version: string }>({
    code: 'MANTA_RAY_VENV_NO_PYTHON',
    exit: 4,
    message: (e) => `installing Ray ${e.version} needs uv, or Python 3.10 or newer with venv; this machine has neither`,
    hint: () => "install uv, or Python with venv (Debian: 'apt install python3-venv'), or set MANTA_RAY_PYTHON",
  }),
  VenvNotMade: defineError<{ folder: string; command: string; detail: string }>({
    code: 'MANTA_RAY_VENV_NOT_MADE',
    exit: 4,
    message: (e) => `could not install Ray into ${e.folder}: '${e.command}' failed: ${e.detail}`,
    hint: () => "fix the cause and try again, or set MANTA_RAY_PYTHON to a Python that has 'ray[default]'",
  }),
  VenvBusy: defineError<{ folder: string; pid: number }>({
    code: 'MANTA_RAY_VENV_BUSY',
    exit: 4,
    message: (e) => `another command (pid ${e.pid}) is installing Ray into ${e.folder}`,
    hint: () => 'wait for it to finish, then try again',
  }),
  VenvDeclined: defineError<{ version: string }>({
    code: 'MANTA_RAY_VENV_DECLINED',
    exit: 1,
    message: (e) => `Ray is not installed on this machine, and you declined to install Ray ${e.version}`,
    hint: () => "set MANTA_RAY_PYTHON to a Python that has 'ray[default]', or drop '--engine ray'",
  }),
  VenvEngineFixed: defineError<{ name: string; has: string; wanted: string }>({
    code: 'MANTA_RAY_VENV_ENGINE_FIXED',
    exit: 4,
    message: (e) => `the cluster '${e.name}' runs the engine '${e.has}' and cannot switch to '${e.wanted}'`,
    hint: (e) => `shut it down with 'manta down -n ${e.name}' first, or choose another name with -n`,
  }),
  VenvOtherMachines: defineError<{ engine: string }>({
    code: 'MANTA_RAY_VENV_OTHER_MACHINES',
    exit: 2,
    message: (e) =>
      `--engine ${e.engine} only works for clusters on this machine; clusters on other machines always run Ray`,
    hint: () => "drop the option, or set the provider to 'type: process' to run the node types on this machine",
  }),
  ShimNoFolder: defineError<{ folder: string; problem: string }>({
    code: 'MANTA_SHIM_NO_FOLDER',
    exit: 2,
    message: (e) => `cannot install the shim in '${e.folder}': ${e.problem}`,
    hint: () => 'choose a folder of your own that comes before the real ray on PATH, such as ~/.local/bin',
  }),
  ShimNotOurs: defineError<{ file: string }>({
    code: 'MANTA_SHIM_NOT_OURS',
    exit: 2,
    message: (e) => `'${e.file}' was not created by Manta, so it was left alone`,
    hint: () => 'choose another folder that comes before it on PATH',
  }),
};
