import { type Command, defineCommand } from '../../command.ts';

/** The command for the first minute. */
export const demoCommands: readonly Command[] = [
  defineCommand({
    path: ['demo'],
    summary: 'watch a cluster on this machine scale up for some jobs, and down again',
    description:
      'Starts a cluster named `demo`, runs twelve small jobs on it and reports what happens. On a terminal, the cluster stays up for you to try; otherwise it is shut down.',
    args: [],
    options: [],
    examples: ['manta demo'],
    load: () => import('./demo.ts'),
  }),
];
