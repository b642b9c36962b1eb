import { type Command, defineCommand } from '../command.ts';

/** Commands about the program itself. */
export const mantaCommands: readonly Command[] = [
  defineCommand({
    path: ['help'],
    summary: 'say what a command does and takes',
    args: [{ name: 'COMMAND', summary: 'its words: config check', many: true }],
    options: [],
    examples: ['manta help config check'],
    load: () => import('./help.ts'),
  }),
  defineCommand({
    path: ['version'],
    summary: 'print the version of Manta and of the Node that runs it',
    args: [],
    options: [],
    load: () => import('./version.ts'),
  }),
  defineCommand({
    path: ['completion'],
    summary: 'print the completion script of a shell',
    description:
      'The script asks Manta itself what may come next, so it never goes out of date.\n' +
      'To switch it on:\n' +
      '  bash  add to ~/.bashrc:  eval "$(manta completion bash)"\n' +
      '  zsh   add to ~/.zshrc, after compinit:  eval "$(manta completion zsh)"\n' +
      '  fish  manta completion fish > ~/.config/fish/completions/manta.fish',
    args: [
      { name: 'SHELL', summary: 'bash, zsh or fish', required: true, complete: ['bash', 'zsh', 'fish'], closed: true },
    ],
    options: [],
    examples: ['eval "$(manta completion bash)"'],
    load: () => import('./completion.ts'),
  }),
  defineCommand({
    path: ['__complete'],
    summary: 'answer a completion script: what may come next',
    description:
      'Prints one candidate a line with its meaning after a tab, then `:file`, `:directory` or `:none` for what the ' +
      'shell should add of its own.',
    args: [
      { name: 'SHELL', summary: 'bash, zsh or fish', required: true, complete: ['bash', 'zsh', 'fish'], closed: true },
    ],
    options: [],
    hidden: true,
    passThrough: true,
    load: () => import('./complete.ts'),
  }),
];
