import { type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions } from '../../shared/cluster-options.ts';

export const userAddOptions = [
  { name: 'admin', summary: "allow managing everyone's jobs and users" },
  { name: 'weight', value: 'N', type: 'number', summary: 'share of the cluster relative to other users (default: 1)' },
  ...connectionOptions,
] as const satisfies readonly Option[];

/** Commands about users. */
export const userCommands: readonly Command[] = [
  defineCommand({
    path: ['user', 'add'],
    summary: 'add a user and print their token, once',
    description: 'With --json: {"user", "token"}.',
    args: [{ name: 'NAME', summary: 'letters, digits and _ . @ -', required: true }],
    options: userAddOptions,
    examples: ['manta user add ada'],
    load: () => import('./add.ts'),
  }),
  defineCommand({
    path: ['user', 'list'],
    summary: 'list users',
    args: [],
    options: connectionOptions,
    examples: ['manta user list'],
    load: () => import('./list.ts'),
  }),
  defineCommand({
    path: ['user', 'revoke'],
    summary: "revoke a user's tokens; their jobs keep running",
    args: [{ name: 'NAME', summary: 'user name', required: true }],
    options: connectionOptions,
    examples: ['manta user revoke ada'],
    load: () => import('./revoke.ts'),
  }),
];
