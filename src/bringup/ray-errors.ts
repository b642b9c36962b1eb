import { defineError } from '../base/errors.ts';
import type { NodeVersions } from './ray-versions.ts';

const installed = ({ node, versions }: NodeVersions): string =>
  `'${node}' has Ray ${versions.ray} on Python ${versions.python}`;

/** What keeps Ray from being started on a node, or a started one from being let run. */
export const rayErrors = {
  Versions: defineError<{ head: NodeVersions; worker: NodeVersions }>({
    code: 'MANTA_RAY_VERSIONS',
    exit: 6,
    message: (e) => `the nodes do not match: the head ${installed(e.head)}, the worker ${installed(e.worker)}`,
    hint: () => 'install the same Ray, and a Python of the same minor release, on all nodes (setup_commands, image)',
  }),
  Files: defineError<{ node: string; detail: string }>({
    code: 'MANTA_RAY_FILES',
    exit: 6,
    message: (e) => `'${e.node}' does not take the files that Ray needs: ${e.detail}`,
    hint: () => 'the home of the user there must be writable, in the container too, and have room',
  }),
};
