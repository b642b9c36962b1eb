import { saysDiskFull } from '../base/disk-full.ts';
import type { MantaError } from '../base/errors.ts';
import { defineError } from '../base/errors.ts';
import { ownValue } from '../base/own-value.ts';
import { rayVersion } from '../core/ray-version.ts';

interface At {
  node: string;
  engine: string;
}

/** What keeps a node's container from running. */
export const containerErrors = {
  EngineMissing: defineError<At>({
    code: 'MANTA_CONTAINER_ENGINE_MISSING',
    exit: 1,
    message: (e) => `'${e.node}' has no ${e.engine}`,
    hint: (e) =>
      `install it in the image of the machine, or with initialization_commands (${ownValue(installs, e.engine) ?? ''})`,
  }),
  EngineDown: defineError<At & { detail: string }>({
    code: 'MANTA_CONTAINER_ENGINE_DOWN',
    exit: 1,
    message: (e) => `${e.engine} does not run on '${e.node}': ${e.detail}`,
    hint: () => "start it there with 'sudo systemctl start docker', or in initialization_commands",
  }),
  EngineDenied: defineError<At & { detail: string }>({
    code: 'MANTA_CONTAINER_ENGINE_DENIED',
    exit: 1,
    message: (e) => `${e.engine} on '${e.node}' does not let this user in: ${e.detail}`,
    hint: () => "add the user to the group with 'sudo usermod -aG docker $USER' in initialization_commands",
  }),
  /** The user has become a member of the group since the connection was made. */
  NewSession: defineError<At>({
    code: 'MANTA_CONTAINER_NEW_SESSION',
    exit: 1,
    message: (e) => `${e.engine} on '${e.node}' lets this user in from the next connection on`,
    hint: () => 'run the command again',
  }),
  ImageNotFound: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_IMAGE_NOT_FOUND',
    exit: 1,
    message: (e) => `'${e.node}' finds no image '${e.image}': ${e.detail}`,
    hint: (e) =>
      e.engine === 'podman'
        ? `check name and tag, and write the registry out (docker.io/rayproject/ray:${rayVersion})`
        : 'check name and tag; a private one looks the same to whoever is not logged in',
  }),
  LoginRefused: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_LOGIN_REFUSED',
    exit: 1,
    message: (e) => `the registry does not give '${e.image}' to '${e.node}': ${e.detail}`,
    hint: (e) => `log in there with '${e.engine} login' in initialization_commands, which run before every pull`,
  }),
  RegistryUnreachable: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_REGISTRY_UNREACHABLE',
    exit: 1,
    message: (e) => `'${e.node}' does not reach the registry of '${e.image}': ${e.detail}`,
    hint: () => 'check the network of the node; pull_before_run: false takes an image that is there already',
  }),
  NoSpace: defineError<At & { image: string }>({
    code: 'MANTA_CONTAINER_NO_SPACE',
    exit: 1,
    message: (e) => `'${e.node}' has no room for the image '${e.image}'`,
    hint: (e) => `make room ('${e.engine} system prune'), or give the machine a larger disk`,
  }),
  PullFailed: defineError<At & { image: string; detail: string }>({
    code: 'MANTA_CONTAINER_PULL_FAILED',
    exit: 1,
    message: (e) => `'${e.node}' could not pull '${e.image}': ${e.detail}`,
  }),
  RunRefused: defineError<At & { command: string; detail: string }>({
    code: 'MANTA_CONTAINER_RUN_REFUSED',
    exit: 1,
    message: (e) => `${e.engine} on '${e.node}' refuses '${e.command}': ${e.detail}`,
    hint: () => 'check run_options, head_run_options and worker_run_options under docker',
  }),
  Ended: defineError<At & { name: string; image: string; detail: string }>({
    code: 'MANTA_CONTAINER_ENDED',
    exit: 1,
    message: (e) => `the container '${e.name}' on '${e.node}' ended as soon as it was made: ${e.detail}`,
    hint: (e) => `'${e.image}' must have bash, and an entry point, if any, that runs what it is given`,
  }),
  NameTaken: defineError<At & { name: string; owner: string }>({
    code: 'MANTA_CONTAINER_NAME_TAKEN',
    exit: 1,
    message: (e) => `the container '${e.name}' on '${e.node}' belongs to another cluster (${e.owner})`,
    hint: () => 'give each cluster of a shared machine a container_name of its own',
  }),
  MountsGone: defineError<{ node: string; path: string }>({
    code: 'MANTA_CONTAINER_MOUNTS_GONE',
    exit: 1,
    message: (e) => `'${e.path}' is no longer on '${e.node}', so that it cannot be mounted`,
    hint: () => "'manta rsync-up' copies the file mounts again; /tmp may have been emptied at a reboot",
  }),
};

const installs: Readonly<Record<string, string>> = {
  docker: 'curl -fsSL https://get.docker.com | sudo sh; sudo usermod -aG docker $USER',
  podman: 'sudo apt-get install -y podman',
};

/** The error that the words of an engine mean. */
export function pullFailure(at: At & { image: string }, output: string): MantaError {
  const detail = lastLine(output);
  if (saysDiskFull(output)) return containerErrors.NoSpace(at);
  const engine = engineFailure(at, output);
  if (engine) return engine;
  if (
    /unauthorized|authentication required|no basic auth|invalid username|incorrect username|403 forbidden|denied: |access to the resource is denied/i.test(
      output,
    ) &&
    !/pull access denied/i.test(output)
  )
    return containerErrors.LoginRefused({ ...at, detail });
  if (
    /manifest unknown|not found|name unknown|does not exist|pull access denied|invalid reference format|short-name/i.test(
      output,
    )
  )
    return containerErrors.ImageNotFound({ ...at, detail });
  if (
    /connection refused|no such host|i\/o timeout|timed? ?out|network is unreachable|no route to host|connection reset|tls|x509|pinging container registry/i.test(
      output,
    )
  )
    return containerErrors.RegistryUnreachable({ ...at, detail });
  return containerErrors.PullFailed({ ...at, detail });
}

/** Undefined when the engine itself is well. */
export function engineFailure(at: At, output: string): MantaError | undefined {
  const detail = lastLine(output);
  if (/permission denied/i.test(output) && /docker daemon|docker\.sock|podman\.sock/i.test(output))
    return containerErrors.EngineDenied({ ...at, detail });
  if (
    /cannot connect to the docker daemon|is the docker daemon running|failed to connect to the docker API|unable to connect to podman/i.test(
      output,
    )
  )
    return containerErrors.EngineDown({ ...at, detail });
  return undefined;
}

/** The last thing that was said, without the engine's decorations. */
export function lastLine(output: string): string {
  const line =
    output
      .split(/[\r\n]+/)
      .filter((text) => text.trim() !== '' && !/^See '|^Run '/.test(text))
      .at(-1) ?? '';
  return line.trim().replace(/^(?:Error(?: response from daemon)?|docker|podman): /, '');
}
