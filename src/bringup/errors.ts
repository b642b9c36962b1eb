import { defineError } from '../base/errors.ts';
import { ownValue } from '../base/own-value.ts';
import { rayVersion, tokensSince } from '../core/ray-version.ts';
import type { NodeVersions } from './ray/versions.ts';

const installed = ({ node, versions }: NodeVersions): string =>
  `'${node}' has Ray ${versions.ray} on Python ${versions.python}`;

export const lostWords = {
  reboot: 'the machine rebooted while it was running',
  killed: 'its process was killed',
  ended: 'it was stopped',
  never: 'it was claimed but never started',
  gone: 'its folder is gone',
};

interface At {
  node: string;
  engine: string;
}
const installs: Readonly<Record<string, string>> = {
  docker: 'curl -fsSL https://get.docker.com | sudo sh; sudo usermod -aG docker $USER',
  podman: 'sudo apt-get install -y podman',
};

/** What can keep a host from becoming a node. */
export const bringupErrors = {
  CommandFailed: defineError<{
    node: string;
    cluster: string;
    phase: string;
    command: string;
    code: number;
    output: string;
  }>({
    code: 'MANTA_BRINGUP_COMMAND_FAILED',
    exit: 4,
    message: (e) =>
      `${e.node}: ${e.phase} ${e.code < 0 ? 'was lost' : `failed with exit code ${e.code}`}: ${e.command}${e.output === '' ? '' : `\n${indented(e.output)}`}`,
    hint: (e) =>
      `log in with 'manta ssh -n ${e.cluster} ${e.node}', fix the cause, and run 'manta up' again; finished steps are not repeated`,
  }),
  DiskFull: defineError<{ node: string }>({
    code: 'MANTA_BRINGUP_DISK_FULL',
    exit: 4,
    message: (e) => `${e.node}: the disk is full; cannot write to the user's home directory`,
    hint: () =>
      "free some space there ('df -h ~' and 'du -xsh ~/* /tmp/* | sort -h' show what uses it), then try again",
  }),
  NoFolder: defineError<{ node: string; folder: string; detail: string }>({
    code: 'MANTA_BRINGUP_NO_FOLDER',
    exit: 4,
    message: (e) => `${e.node}: cannot write to ~/${e.folder}: ${e.detail}`,
    hint: () => 'the SSH user needs a writable home directory there',
  }),
  NotCarried: defineError<{ node: string; path: string; detail: string }>({
    code: 'MANTA_BRINGUP_NOT_CARRIED',
    exit: 4,
    message: (e) => `${e.node}: could not write '${e.path}': ${e.detail}`,
    hint: () => 'jobs that need this package cannot run on the node until it is there',
  }),
  NeverRegistered: defineError<{ node: string; instance: string; seconds: number; death: string | undefined }>({
    code: 'MANTA_BRINGUP_NEVER_REGISTERED',
    exit: 4,
    message: (e) =>
      `${e.node}: Ray was started, but ${e.instance} did not join the cluster within ${e.seconds} s${e.death === undefined ? '' : `; its last node died: ${e.death}`}`,
    hint: () => "see raylet.err and gcs_server.out in Ray's logs, on the node and on the head",
  }),
  HeadSilent: defineError<{ node: string; address: string; port: number; seconds: number }>({
    code: 'MANTA_BRINGUP_HEAD_SILENT',
    exit: 4,
    message: (e) => `${e.node}: Ray's head at ${e.address}:${e.port} did not open its port within ${e.seconds} s`,
    hint: () => "see 'manta logs head' for the head's startup output; a firewall between the hosts can also cause this",
  }),
  SyncLocalMissing: defineError<{ local: string; remote: string; typed?: boolean }>({
    code: 'MANTA_SYNC_LOCAL_MISSING',
    exit: 2,
    message: (e) => `'${e.local}' does not exist on this machine, so it cannot be copied to '${e.remote}'`,
    hint: (e) =>
      e.typed === true
        ? 'give an existing path; a relative one is resolved from the current directory'
        : "correct 'file_mounts' in the cluster file, or create the file",
  }),
  SyncNoRsyncHere: defineError({
    code: 'MANTA_SYNC_NO_RSYNC_HERE',
    exit: 3,
    message: () => "'rsync' is not installed on this machine",
    hint: () => "install the package 'rsync'",
  }),
  SyncNoRsyncThere: defineError<{ host: string }>({
    code: 'MANTA_SYNC_NO_RSYNC_THERE',
    exit: 1,
    message: (e) => `'rsync' is not installed on ${e.host}`,
    hint: () => "install it there, for example with 'sudo apt-get install -y rsync', or use an image that has it",
  }),
  SyncNoSpace: defineError<{ host: string; path: string }>({
    code: 'MANTA_SYNC_NO_SPACE',
    exit: 1,
    message: (e) => `no space left for '${e.path}' on ${e.host}`,
    hint: () => "free some space, or exclude files with 'rsync_exclude'",
  }),
  SyncDenied: defineError<{ host: string; path: string; detail: string }>({
    code: 'MANTA_SYNC_DENIED',
    exit: 1,
    message: (e) => `cannot copy '${e.path}' to or from ${e.host}: ${e.detail}`,
    hint: () => 'the SSH user needs access to that path',
  }),
  SyncNoisyShell: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SYNC_NOISY_SHELL',
    exit: 1,
    message: (e) => `the user's shell on ${e.host} prints text when it runs a program: ${e.detail}`,
    hint: () => 'make its startup file (.bashrc, .zshenv, …) print only when there is a terminal',
  }),
  SyncFailed: defineError<{ host: string; path: string; code: number; detail: string }>({
    code: 'MANTA_SYNC_FAILED',
    exit: 1,
    message: (e) => `copying '${e.path}' to or from ${e.host} failed: ${e.detail} (rsync exit code ${e.code})`,
    hint: () => 'files already copied are kept; run the command again to copy the rest',
  }),
  ContainerEngineMissing: defineError<At>({
    code: 'MANTA_CONTAINER_ENGINE_MISSING',
    exit: 1,
    message: (e) => `${e.engine} is not installed on '${e.node}'`,
    hint: (e) => {
      const command = ownValue(installs, e.engine);
      return `install it in the machine image, or in initialization_commands${command === undefined ? '' : ` with '${command}'`}`;
    },
  }),
  ContainerEngineDown: defineError<At & { detail: string }>({
    code: 'MANTA_CONTAINER_ENGINE_DOWN',
    exit: 1,
    message: (e) => `${e.engine} is not running on '${e.node}': ${e.detail}`,
    hint: () => "start it there with 'sudo systemctl start docker', or in initialization_commands",
  }),
  ContainerEngineDenied: defineError<At & { detail: string }>({
    code: 'MANTA_CONTAINER_ENGINE_DENIED',
    exit: 1,
    message: (e) => `this user may not use ${e.engine} on '${e.node}': ${e.detail}`,
    hint: () => "add the user to the docker group in initialization_commands: 'sudo usermod -aG docker $USER'",
  }),
  /** The user has become a member of the group since the connection was made. */
  ContainerNewSession: defineError<At>({
    code: 'MANTA_CONTAINER_NEW_SESSION',
    exit: 1,
    message: (e) => `this user may use ${e.engine} on '${e.node}' only after logging in again`,
    hint: () => 'run the command again',
  }),
  ContainerImageNotFound: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_IMAGE_NOT_FOUND',
    exit: 1,
    message: (e) => `image '${e.image}' not found on '${e.node}': ${e.detail}`,
    hint: (e) =>
      e.engine === 'podman'
        ? `check the name and tag, and include the registry (docker.io/rayproject/ray:${rayVersion})`
        : 'check the name and tag; a private image also looks missing until you log in',
  }),
  ContainerLoginRefused: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_LOGIN_REFUSED',
    exit: 1,
    message: (e) => `the registry denied '${e.node}' access to '${e.image}': ${e.detail}`,
    hint: (e) => `add '${e.engine} login' to initialization_commands, which run before every pull`,
  }),
  ContainerRegistryUnreachable: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_REGISTRY_UNREACHABLE',
    exit: 1,
    message: (e) => `'${e.node}' cannot reach the registry of '${e.image}': ${e.detail}`,
    hint: () => "check the node's network, or set pull_before_run: false to use an image that is already there",
  }),
  ContainerNoSpace: defineError<At & { image: string }>({
    code: 'MANTA_CONTAINER_NO_SPACE',
    exit: 1,
    message: (e) => `no space left for the image '${e.image}' on '${e.node}'`,
    hint: (e) => `free some space ('${e.engine} system prune'), or use a larger disk`,
  }),
  ContainerPullFailed: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_PULL_FAILED',
    exit: 1,
    message: (e) => `'${e.node}' could not pull '${e.image}': ${e.detail}`,
  }),
  ContainerRunRefused: defineError<At & { command: string; detail: string }>({
    code: 'MANTA_CONTAINER_RUN_REFUSED',
    exit: 1,
    message: (e) => `${e.engine} on '${e.node}' rejected '${e.command}': ${e.detail}`,
    hint: () => 'check run_options, head_run_options and worker_run_options under docker',
  }),
  ContainerEnded: defineError<At & { name: string; image: string; detail: string }>({
    code: 'MANTA_CONTAINER_ENDED',
    exit: 1,
    message: (e) => `the container '${e.name}' on '${e.node}' exited right after it started: ${e.detail}`,
    hint: (e) => `'${e.image}' needs bash, and its entrypoint, if any, must run the command it is given`,
  }),
  ContainerNameTaken: defineError<At & { name: string; owner: string }>({
    code: 'MANTA_CONTAINER_NAME_TAKEN',
    exit: 1,
    message: (e) => `the container '${e.name}' on '${e.node}' belongs to another cluster (${e.owner})`,
    hint: () => 'give each cluster on a shared machine its own container_name',
  }),
  ContainerMountsGone: defineError<{ node: string; path: string }>({
    code: 'MANTA_CONTAINER_MOUNTS_GONE',
    exit: 1,
    message: (e) => `cannot mount '${e.path}': it no longer exists on '${e.node}'`,
    hint: () => "copy the file mounts again with 'manta rsync-up'; a reboot may have emptied /tmp",
  }),
  StepLost: defineError<{ host: string; step: string; why: keyof typeof lostWords; words: string }>({
    code: 'MANTA_STEP_LOST',
    exit: 6,
    message: (e) => `the outcome of the step '${e.step}' on ${e.host} is unknown: ${e.words}`,
    hint: () => 'it is not retried automatically because it may be half done; run the command again',
  }),
  StepDiskFull: defineError<{ host: string; step: string; detail: string }>({
    code: 'MANTA_STEP_DISK_FULL',
    exit: 1,
    message: (e) => `the disk of ${e.host} is full: cannot record the step '${e.step}' (${e.detail})`,
    hint: () => "free some space in the user's home directory there, then try again",
  }),
  StepNotStarted: defineError<{ host: string; step: string; detail: string }>({
    code: 'MANTA_STEP_NOT_STARTED',
    exit: 1,
    message: (e) => `cannot start the step '${e.step}' on ${e.host}: ${e.detail}`,
    hint: () => "check that the user's home directory is writable there",
  }),
  StepNotEnded: defineError<{ host: string; pids: readonly number[] }>({
    code: 'MANTA_STEP_NOT_ENDED',
    exit: 6,
    message: (e) => `cannot kill the processes of a step on ${e.host}: ${e.pids.join(', ')}`,
    hint: () => 'they may belong to another user or hang in the kernel; kill them there, then try again',
  }),
  RayVersions: defineError<{ head: NodeVersions; worker: NodeVersions }>({
    code: 'MANTA_RAY_VERSIONS',
    exit: 1,
    message: (e) => `version mismatch: the head ${installed(e.head)}, the worker ${installed(e.worker)}`,
    hint: () => 'install the same Ray and the same Python minor version on all nodes (setup_commands, image)',
  }),
  RayFiles: defineError<{ node: string; detail: string }>({
    code: 'MANTA_RAY_FILES',
    exit: 1,
    message: (e) => `cannot write the files that Ray needs on '${e.node}': ${e.detail}`,
    hint: () => "the user's home directory must be writable and have free space, inside the container too",
  }),
  RayNoTokenMode: defineError<{ node: string; version: string }>({
    code: 'MANTA_RAY_NO_TOKEN',
    exit: 1,
    message: (e) =>
      `Ray ${e.version} on '${e.node}' has no token authentication: anyone who can reach its ports can run code there`,
    hint: () =>
      `use Ray ${tokensSince} or newer, or set provider.manta.allow_no_auth: true if nobody else can reach the hosts`,
  }),
  RayNotRunning: defineError<{ node: string }>({
    code: 'MANTA_RAY_NOT_RUNNING',
    exit: 1,
    message: (e) => `the start commands of '${e.node}' succeeded, but Ray is not running there`,
    hint: () => 'one of them must be a `ray start` that keeps running; see /tmp/ray/session_latest/logs on the node',
  }),
  RayOpen: defineError<{ node: string; part: string; command: string }>({
    code: 'MANTA_RAY_OPEN',
    exit: 1,
    message: (e) =>
      `${e.part} of '${e.node}' answered without a token, so Ray was stopped; it was started by '${e.command}'`,
    hint: () =>
      'call `ray start` directly: `sudo` and service managers drop the environment that Manta sets for start commands',
  }),
  RayReachable: defineError<{ node: string; address: string; port: number; command: string }>({
    code: 'MANTA_RAY_REACHABLE',
    exit: 1,
    message: (e) =>
      `Ray's dashboard on '${e.node}' listened on ${e.address}:${e.port}, so Ray was stopped; it was started by '${e.command}'`,
    hint: () => 'call `ray start` directly or with --dashboard-host=127.0.0.1; `manta dashboard` tunnels to it',
  }),
  RayNotEnded: defineError<{ node: string; detail: string }>({
    code: 'MANTA_RAY_NOT_ENDED',
    exit: 1,
    message: (e) => `could not check what is running on '${e.node}': ${e.detail}`,
    hint: () => 'this needs bash, and for containers a working docker or podman; Ray may still be running there',
  }),
  RayHeadUnreachable: defineError<{ node: string; address: string; port: number; silent: boolean }>({
    code: 'MANTA_RAY_HEAD_UNREACHABLE',
    exit: 1,
    message: (e) =>
      `'${e.node}' cannot reach the head at ${e.address}:${e.port}: ${e.silent ? 'no response' : 'connection refused'}`,
    hint: (e) =>
      e.silent
        ? "check the head's address and any firewall between the nodes"
        : 'Ray on the head has stopped, or listens on another port',
  }),
};

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
