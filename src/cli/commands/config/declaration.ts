import { type Argument, type Command, defineCommand, type Option } from '../../command.ts';

const files: Argument = {
  name: 'FILE',
  summary: 'cluster file, or - for standard input',
  required: true,
  many: true,
  complete: 'file',
};
const file: Argument = { ...files, many: false };

export const configCheckOptions = [
  { name: 'strict', summary: 'treat warnings as errors' },
] as const satisfies readonly Option[];

export const configShowOptions = [
  { name: 'ray', summary: "show Ray's own resolved configuration" },
] as const satisfies readonly Option[];

export const configConvertOptions = [
  { name: 'write', short: 'w', summary: 'overwrite the file with the result', excludes: ['to'] },
  { name: 'to', value: 'FORMAT', choices: ['kuberay'], summary: 'print a RayCluster manifest for Kubernetes instead' },
] as const satisfies readonly Option[];

export const configExplainOptions = [
  { name: 'markdown', summary: 'print the reference page in Markdown' },
] as const satisfies readonly Option[];

/** Commands that read cluster files; none of them reaches a cluster or a provider. */
export const configCommands: readonly Command[] = [
  defineCommand({
    path: ['config', 'check'],
    summary: 'check cluster files for errors and likely mistakes',
    description:
      'Prints each problem with its position, its code and what to do (at most 200), and a summary.\n' +
      'With --json: one line per file, {"file", "problems": [{"code", "severity", "line", "column", "message", "hint"}]},\n' +
      'and "more", the number of problems after the first 10,000.\n' +
      'Exit code: 0 no errors (warnings are allowed), 1 errors found, 2 a file could not be opened.',
    args: [files],
    options: configCheckOptions,
    examples: ['manta config check cluster.yaml', 'manta config check --json clusters/*.yaml'],
    load: () => import('./check.ts'),
  }),
  defineCommand({
    path: ['config', 'show'],
    summary: 'print cluster files with every default filled in',
    description:
      'Secrets are printed as ***.\n' +
      'With --ray: the configuration that `ray up` computes before it calls the provider, as JSON.\n' +
      'With --json: one line per file, {"file", "config"}, or {"file", "problems"} if it has errors.\n' +
      'Exit code: 0 shown, 1 a file has errors, 2 a file could not be opened.',
    args: [files],
    options: configShowOptions,
    examples: ['manta config show cluster.yaml', 'manta config show --ray cluster.yaml'],
    load: () => import('./show.ts'),
  }),
  defineCommand({
    path: ['config', 'convert'],
    summary: 'rewrite a file for an earlier Ray version with current keys',
    description:
      'Prints the new text; comments are kept, and the meaning does not change. A current file is printed unchanged.\n' +
      'With --to kuberay: prints the RayCluster that the file stands for; what has no counterpart there is listed on top.\n' +
      'With --json: {"file", "text", "changed"}, or {"file", "problems"}; with --to {"file", "manifest", "without": [{"key", "says"}]}.\n' +
      'Exit code: 0 converted, 1 the file has errors or cannot be converted, 2 it could not be opened.',
    args: [file],
    options: configConvertOptions,
    examples: [
      'manta config convert old.yaml > new.yaml',
      'manta config convert --write cluster.yaml',
      'manta config convert --to kuberay cluster.yaml > raycluster.yaml',
    ],
    load: () => import('./convert.ts'),
  }),
  defineCommand({
    path: ['config', 'schema'],
    summary: 'print the JSON Schema of cluster files, for editors',
    description: "Point your editor's YAML support at the file to get completion and checks while you type.",
    args: [],
    options: [],
    examples: ['manta config schema > cluster.schema.json'],
    load: () => import('./schema.ts'),
  }),
  defineCommand({
    path: ['config', 'explain'],
    summary: 'explain a key of cluster files, or list all keys',
    description: 'KEY can be just the last part (min_workers) or the whole path. Without KEY, lists every key.',
    args: [{ name: 'KEY', summary: 'key, such as max_workers or docker.image' }],
    options: configExplainOptions,
    examples: ['manta config explain max_workers', 'manta config explain docker.run_options'],
    load: () => import('./explain.ts'),
  }),
];
