import { defineError } from '../base/errors.ts';
import { tokensSince } from '../core/ray-version.ts';
import type { NodeVersions } from './ray-versions.ts';

const installed = ({ node, versions }: NodeVersions): string =>
  `'${node}' has Ray ${versions.ray} on Python ${versions.python}`;

/** What keeps Ray from being started on a node, or a started one from being let run. */
export const rayStepErrors = {
  Versions: defineError<{ head: NodeVersions; worker: NodeVersions }>({
    code: 'MANTA_RAY_VERSIONS',
    exit: 1,
    message: (e) => `the nodes do not match: the head ${installed(e.head)}, the worker ${installed(e.worker)}`,
    hint: () => 'install the same Ray, and a Python of the same minor release, on all nodes (setup_commands, image)',
  }),
  Files: defineError<{ node: string; detail: string }>({
    code: 'MANTA_RAY_FILES',
    exit: 1,
    message: (e) => `'${e.node}' does not take the files that Ray needs: ${e.detail}`,
    hint: () => 'the home of the user there must be writable, in the container too, and have room',
  }),
  NoTokenMode: defineError<{ node: string; version: string }>({
    code: 'MANTA_RAY_NO_TOKEN',
    exit: 1,
    message: (e) =>
      `Ray ${e.version} on '${e.node}' cannot ask for a token: whoever reaches its ports may run anything`,
    hint: () =>
      `use Ray ${tokensSince} or newer, or set provider.manta.allow_no_auth: true where nobody else reaches the hosts`,
  }),
  NotRunning: defineError<{ node: string }>({
    code: 'MANTA_RAY_NOT_RUNNING',
    exit: 1,
    message: (e) => `the start commands of '${e.node}' ended well, and no Ray runs there`,
    hint: () =>
      'one of them must be a `ray start` that stays; its logs are in /tmp/ray/session_latest/logs on the node',
  }),
  Open: defineError<{ node: string; part: string; command: string }>({
    code: 'MANTA_RAY_OPEN',
    exit: 1,
    message: (e) =>
      `${e.part} of '${e.node}' answered without a token, so Ray was ended; it was started by '${e.command}'`,
    hint: () =>
      'call `ray start` plainly: `sudo` and service managers drop the environment that Manta gives to start commands',
  }),
  Reachable: defineError<{ node: string; address: string; port: number; command: string }>({
    code: 'MANTA_RAY_REACHABLE',
    exit: 1,
    message: (e) =>
      `Ray's dashboard on '${e.node}' listened on ${e.address}:${e.port}, so Ray was ended; it was started by '${e.command}'`,
    hint: () => 'call `ray start` plainly, or with --dashboard-host=127.0.0.1; `manta dashboard` leads to it',
  }),
  NotEnded: defineError<{ node: string; detail: string }>({
    code: 'MANTA_RAY_NOT_ENDED',
    exit: 1,
    message: (e) => `it could not be looked what runs on '${e.node}': ${e.detail}`,
    hint: () => 'it needs bash, and in a container an engine that answers; Ray may still run there',
  }),
  HeadUnreachable: defineError<{ node: string; address: string; port: number; silent: boolean }>({
    code: 'MANTA_RAY_HEAD_UNREACHABLE',
    exit: 1,
    message: (e) =>
      `'${e.node}' does not reach the head at ${e.address}:${e.port}: ${e.silent ? 'nothing answers' : 'nothing listens there'}`,
    hint: (e) =>
      e.silent
        ? 'a firewall between the nodes, or the wrong address of the head'
        : "the head's Ray has ended, or listens on another port",
  }),
};
