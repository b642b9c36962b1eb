import { type Argument, type Command, defineCommand } from '../command.ts';

const directory: Argument = {
  name: 'DIR',
  summary: 'folder that stands before the real ray on PATH',
  required: true,
  complete: 'directory',
};

/** Commands that put a `ray` in front of the real one. */
export const shimCommands: readonly Command[] = [
  defineCommand({
    path: ['shim', 'install'],
    summary: 'put a ray into a folder that sends cluster and job commands to Manta',
    description:
      'Scripts and Makefiles go on as they are: commands about clusters and jobs go to Manta, with the output that scripts\n' +
      'read kept as it is; every other command, and --version, goes to the next ray on PATH. The file is a short shell\n' +
      'script. Run it again after Manta has moved. Nothing but a file that Manta made is replaced.\n' +
      'With --json: {"file", "manta", "real"}.',
    args: [directory],
    options: [],
    examples: ['manta shim install ~/.local/bin'],
    load: () => import('./shim-install.ts'),
  }),
  defineCommand({
    path: ['shim', 'remove'],
    summary: 'take that ray out of the folder again',
    description: 'A ray that Manta did not make stays.',
    args: [directory],
    options: [],
    examples: ['manta shim remove ~/.local/bin'],
    load: () => import('./shim-remove.ts'),
  }),
];
