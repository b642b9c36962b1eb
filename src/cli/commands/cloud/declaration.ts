import { type Command, defineCommand } from '../../command.ts';

/** Commands about clouds. */
export const cloudCommands: readonly Command[] = [
  defineCommand({
    path: ['cloud', 'policy'],
    summary: 'print the cloud permissions that a cluster file needs',
    description:
      "Prints two policies in the cloud's own language: one for the head, and one for people who run `manta up` and `manta down`. Give them to the administrator of the account. Makes no call to the cloud.\n" +
      'With --json: {"file", "provider", "head", "user"}; both policies are text.',
    args: [{ name: 'FILE', summary: 'cluster file, or - for standard input', required: true, complete: 'file' }],
    options: [],
    examples: ['manta cloud policy cluster.yaml', 'manta cloud policy --json cluster.yaml'],
    load: () => import('./policy.ts'),
  }),
];
