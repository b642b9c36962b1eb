import { type Argument, type Command, defineCommand } from '../../command.ts';

const directory: Argument = {
  name: 'DIR',
  summary: 'folder that comes before the real ray on PATH',
  required: true,
  complete: 'directory',
};

/** Commands that put a `ray` in front of the real one. */
export const shimCommands: readonly Command[] = [
  defineCommand({
    path: ['shim', 'install'],
    summary: 'install a `ray` that sends cluster and job commands to Manta',
    description:
      'Scripts and Makefiles need no changes: commands for clusters and jobs go to Manta, with the output that scripts\n' +
      'expect; every other command, and --version, goes to the next ray on PATH. The file is a short shell\n' +
      'script. Run this again if you move Manta. It only replaces a file that Manta created.\n' +
      'With --json: {"file", "manta", "real"}.',
    args: [directory],
    options: [],
    examples: ['manta shim install ~/.local/bin'],
    load: () => import('./install.ts'),
  }),
  defineCommand({
    path: ['shim', 'remove'],
    summary: 'remove that `ray` from the folder',
    description: 'Leaves a `ray` that Manta did not create alone.',
    args: [directory],
    options: [],
    examples: ['manta shim remove ~/.local/bin'],
    load: () => import('./remove.ts'),
  }),
];
