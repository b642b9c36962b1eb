import { defineError } from '../base/errors.ts';

interface Named {
  /** What it was typed after: `manta config check`. */
  command: string;
  nearest?: string | undefined;
}

const meant = (nearest: string | undefined, otherwise: string): string =>
  nearest === undefined ? otherwise : `did you mean '${nearest}'?`;

/** What can be wrong with a command line, and with Manta itself. */
export const cliErrors = {
  UnknownCommand: defineError<Named & { word: string }>({
    code: 'MANTA_CLI_UNKNOWN_COMMAND',
    exit: 2,
    message: (e) => `unknown command '${e.word}' for '${e.command}'`,
    hint: (e) => meant(e.nearest, `'${e.command} --help' lists the commands`),
  }),
  MissingCommand: defineError<{ command: string; commands: string }>({
    code: 'MANTA_CLI_MISSING_COMMAND',
    exit: 2,
    message: (e) => `'${e.command}' needs a command: ${e.commands}`,
    hint: (e) => `'${e.command} --help' describes each of them`,
  }),
  UnknownOption: defineError<Named & { option: string; behindDashes?: boolean }>({
    code: 'MANTA_CLI_UNKNOWN_OPTION',
    exit: 2,
    message: (e) => `'${e.command}' has no option '${e.option}'`,
    hint: (e) =>
      meant(
        e.nearest,
        e.behindDashes === true
          ? `put a command with its own options after --: ${e.command} … -- COMMAND ${e.option}`
          : `'${e.command} --help' lists its options`,
      ),
  }),
  MissingValue: defineError<{ command: string; option: string; value: string }>({
    code: 'MANTA_CLI_MISSING_VALUE',
    exit: 2,
    message: (e) => `option '${e.option}' of '${e.command}' needs a value: ${e.option} ${e.value}`,
    hint: (e) => `write a value that starts with a dash as ${e.option}=VALUE`,
  }),
  UnexpectedValue: defineError<{ command: string; option: string; value: string }>({
    code: 'MANTA_CLI_UNEXPECTED_VALUE',
    exit: 2,
    message: (e) => `option '${e.option}' of '${e.command}' takes no value, but got '${e.value}'`,
  }),
  BadValue: defineError<{ command: string; option: string; value: string; expected: string }>({
    code: 'MANTA_CLI_BAD_VALUE',
    exit: 2,
    message: (e) => `option '${e.option}' of '${e.command}' takes ${e.expected}, not '${e.value}'`,
  }),
  BadChoice: defineError<Named & { option: string; value: string; choices: string }>({
    code: 'MANTA_CLI_BAD_CHOICE',
    exit: 2,
    message: (e) => `option '${e.option}' of '${e.command}' must be one of ${e.choices}, not '${e.value}'`,
    hint: (e) => (e.nearest === undefined ? undefined : `did you mean '${e.nearest}'?`),
  }),
  MissingArgument: defineError<{ command: string; argument: string; usage: string }>({
    code: 'MANTA_CLI_MISSING_ARGUMENT',
    exit: 2,
    message: (e) => `'${e.command}' needs ${e.argument}`,
    hint: (e) => `usage: ${e.usage}`,
  }),
  ExtraArgument: defineError<{ command: string; argument: string; usage: string }>({
    code: 'MANTA_CLI_EXTRA_ARGUMENT',
    exit: 2,
    message: (e) => `unexpected argument '${e.argument}' for '${e.command}'`,
    hint: (e) => `usage: ${e.usage}`,
  }),
  SeveralWords: defineError<{ command: string; argument: string; extra: string; usage: string }>({
    code: 'MANTA_CLI_SEVERAL_WORDS',
    exit: 2,
    message: (e) => `'${e.command}' takes one ${e.argument}, and '${e.extra}' is a second one`,
    hint: (e) => `quote it, or put it after --: ${e.usage}`,
  }),
  TogetherExcluded: defineError<{ command: string; option: string; other: string }>({
    code: 'MANTA_CLI_EXCLUDED_OPTIONS',
    exit: 2,
    message: (e) => `'${e.option}' and '${e.other}' of '${e.command}' cannot be used together`,
  }),
  OptionNeeded: defineError<{ command: string; option: string; needed: string }>({
    code: 'MANTA_CLI_OPTION_NEEDED',
    exit: 2,
    message: (e) => `'${e.option}' of '${e.command}' only works together with ${e.needed}`,
  }),
  TwoClusters: defineError<{ word: string; name: string }>({
    code: 'MANTA_CLI_TWO_CLUSTERS',
    exit: 2,
    message: (e) => `'${e.word}' and '--cluster-name ${e.name}' name different clusters`,
    hint: () => 'use only one of them; with a file, -n overrides the name of its cluster',
  }),
  NotOnKube: defineError<{ word: string }>({
    code: 'MANTA_CLI_NOT_ON_KUBE',
    exit: 2,
    message: (e) => `this command does not work on '${e.word}': KubeRay manages that cluster`,
    hint: () => "change its manifest and run 'manta kube apply'; 'manta kube --help' lists more",
  }),
  NotForKube: defineError<{ option: string }>({
    code: 'MANTA_CLI_NOT_FOR_KUBE',
    exit: 2,
    message: (e) => `'${e.option}' does not work on Kubernetes`,
    hint: () =>
      "its manifest starts and ends a cluster there; for work that outlives the terminal use 'manta job submit'",
  }),
  PathsForKube: defineError<{ word: string }>({
    code: 'MANTA_CLI_PATHS_FOR_KUBE',
    exit: 2,
    message: (e) => `give SOURCE and TARGET: '${e.word}' has no file_mounts to copy`,
    hint: (e) => `manta rsync-up ${e.word} ./data/ /home/ray/data/`,
  }),
  OnlyOnKube: defineError<{ option: string }>({
    code: 'MANTA_CLI_ONLY_ON_KUBE',
    exit: 2,
    message: (e) => `'${e.option}' only works with a cluster on Kubernetes`,
    hint: () => 'name it as kube:NAME or kube:NAMESPACE/NAME',
  }),
  BelongsToRay: defineError<{ typed: string; instead: string }>({
    code: 'MANTA_CLI_BELONGS_TO_RAY',
    exit: 2,
    message: (e) => `'${e.typed}' is a command of Ray's own and only works where Ray runs`,
    hint: (e) => e.instead,
  }),
  Interrupted: defineError<{ signal: string; exit: number }>({
    code: 'MANTA_INTERRUPTED',
    exit: 130,
    message: (e) => `interrupted by ${e.signal}`,
  }),
  Internal: defineError<{ what: string }>({
    code: 'MANTA_INTERNAL',
    exit: 70,
    message: (e) => `internal error: ${e.what}`,
    hint: () =>
      "this is a bug in Manta: report it with the output of 'manta version' and of the same command with --verbose",
  }),
};
