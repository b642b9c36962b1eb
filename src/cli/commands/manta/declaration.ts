import { type Command, defineCommand } from '../../command.ts';

/** Commands about the program itself. */
export const mantaCommands: readonly Command[] = [
  defineCommand({
    path: ['help'],
    summary: 'show help for a command',
    args: [{ name: 'COMMAND', summary: 'command name, such as config check', many: true }],
    options: [],
    examples: ['manta help config check'],
    load: () => import('./help.ts'),
  }),
  defineCommand({
    path: ['version'],
    summary: 'print the versions of Manta and Node',
    args: [],
    options: [],
    load: () => import('./version.ts'),
  }),
  defineCommand({
    path: ['completion'],
    summary: 'print a shell completion script',
    description:
      'The script asks Manta for completions, so it never goes out of date.\n' +
      'To enable it:\n' +
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
    summary: 'list completions for a shell completion script',
    description:
      'Prints one candidate per line with its description after a tab, then `:file`, `:directory` or `:none` for what the ' +
      'shell should add.',
    args: [
      { name: 'SHELL', summary: 'bash, zsh or fish', required: true, complete: ['bash', 'zsh', 'fish'], closed: true },
    ],
    options: [],
    hidden: true,
    passThrough: true,
    load: () => import('./complete.ts'),
  }),
];
