import { type Argument, type Command, defineCommand, type Option } from '../command.ts';

const files: Argument = {
  name: 'FILE',
  summary: 'cluster file; - reads standard input',
  required: true,
  many: true,
  complete: 'file',
};
const file: Argument = { ...files, many: false };

export const configCheckOptions = [
  { name: 'strict', summary: 'count warnings as errors' },
] as const satisfies readonly Option[];

export const configShowOptions = [
  { name: 'ray', summary: "Ray's own prepared configuration, for files that Ray takes" },
] as const satisfies readonly Option[];

export const configConvertOptions = [
  { name: 'write', short: 'w', summary: 'put the result in place of the file' },
] as const satisfies readonly Option[];

export const configExplainOptions = [
  { name: 'markdown', summary: 'every key as the reference page has it' },
] as const satisfies readonly Option[];

/** Commands that read cluster files; none of them reaches a cluster or a provider. */
export const configCommands: readonly Command[] = [
  defineCommand({
    path: ['config', 'check'],
    summary: 'say everything that is wrong or doubtful in cluster files',
    description:
      'Prints each problem with its position, its code and what to do, and a summary; of very many the first 200.\n' +
      'With --json: one line a file, {"file", "problems": [{"code", "severity", "line", "column", "message", "hint"}]},\n' +
      'and "more", the number of those behind the first 10,000.\n' +
      'Exit code: 0 nothing wrong (warnings are allowed), 1 errors found, 2 a file could not be opened.',
    args: [files],
    options: configCheckOptions,
    examples: ['manta config check cluster.yaml', 'manta config check --json clusters/*.yaml'],
    load: () => import('./config-check.ts'),
  }),
  defineCommand({
    path: ['config', 'show'],
    summary: 'print what cluster files mean, with every default filled in',
    description:
      'Values of keys that hold secrets are printed as ***.\n' +
      'With --ray: what `ray up` makes of the file before it asks the provider, as JSON.\n' +
      'With --json: one line a file, {"file", "config"}, or {"file", "problems"} when it cannot be understood.\n' +
      'Exit code: 0 shown, 1 a file cannot be understood, 2 a file could not be opened.',
    args: [files],
    options: configShowOptions,
    examples: ['manta config show cluster.yaml', 'manta config show --ray cluster.yaml'],
    load: () => import('./config-show.ts'),
  }),
  defineCommand({
    path: ['config', 'convert'],
    summary: 'rewrite a file of an earlier Ray version in the keys of today',
    description:
      'Prints the new text; comments are kept, and the file means what it meant before. A modern file is printed as it is.\n' +
      'With --json: {"file", "text", "changed"}, or {"file", "problems"}.\n' +
      'Exit code: 0 converted, 1 the file cannot be understood or converted, 2 it could not be opened.',
    args: [file],
    options: configConvertOptions,
    examples: ['manta config convert old.yaml > new.yaml', 'manta config convert --write cluster.yaml'],
    load: () => import('./config-convert.ts'),
  }),
  defineCommand({
    path: ['config', 'schema'],
    summary: 'print the JSON Schema of cluster files, for editors',
    description: 'Point the YAML support of an editor at the file to get completion and checks while writing.',
    args: [],
    options: [],
    examples: ['manta config schema > cluster.schema.json'],
    load: () => import('./config-schema.ts'),
  }),
  defineCommand({
    path: ['config', 'explain'],
    summary: 'explain a key of cluster files, or list all of them',
    description:
      'KEY may be the last part only (min_workers), or the whole path. Without KEY: every key with its line.',
    args: [{ name: 'KEY', summary: 'key, such as max_workers or docker.image' }],
    options: configExplainOptions,
    examples: ['manta config explain max_workers', 'manta config explain docker.run_options'],
    load: () => import('./config-explain.ts'),
  }),
];
