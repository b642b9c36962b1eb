import type { Readable } from 'node:stream';
import type { EventSink } from '../base/events.ts';
import type { OptionValue, OptionValues } from './option-values.ts';

/** A command as the table declares it: enough for help, completion and docs without loading its code. */
export interface Command {
  /** Words after `manta`: `['config', 'check']`. */
  readonly path: readonly string[];
  readonly summary: string;
  /** More than one line of help: what it does, what it prints, exit codes that matter. */
  readonly description?: string;
  readonly args: readonly Argument[];
  readonly options: readonly Option[];
  /** Left out of the overview, still documented. */
  readonly hidden?: boolean;
  /** Everything after `--` is handed over as it is. */
  readonly passThrough?: boolean;
  /**
   * Words for another program stand among the arguments: options that the command does not have are arguments too, and
   * behind the required ones only `--verbose` and `--help` are still heard of Manta's own options.
   */
  readonly passUnknown?: boolean;
  /** Names that the command had in earlier versions of Ray, in place of the last word of its path. */
  readonly formerly?: readonly string[];
  /** Options that the command had in earlier versions of Ray, by name, and what to write now. */
  readonly formerOptions?: Readonly<Record<string, string>>;
  /**
   * Ray has a command of this name: the `ray` of `manta shim` sends it here. `gcs`: unless it is given the address of a
   * GCS, which only Ray itself can ask.
   */
  readonly inRay?: true | 'gcs';
  /** Ctrl-C is how it ends, and no failure; with the name of an option: where that one is given. */
  readonly untilInterrupted?: true | string;
  readonly examples?: readonly string[];
  /** A method, so that the code of any command fits; `defineCommand` holds it to the options of its own. */
  load(): Promise<{ run(invocation: ParsedInvocation, io: Io): Promise<number> }>;
}

/** A command whose code takes the options that it declares. */
export const defineCommand = <const Options extends readonly Option[]>(
  command: Omit<Command, 'load' | 'options'> & {
    readonly options: Options;
    readonly load: () => Promise<{ readonly run: Run<NoInfer<Options>> }>;
  },
): Command => command;

export interface Argument {
  readonly name: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly many?: boolean;
  /** Several words are taken after `--` only: elsewhere a second word is a mistake. */
  readonly manyAfterDashes?: boolean;
  /** What completion offers; `cluster`: files, and the names of clusters that are known here. */
  readonly complete?: 'file' | 'directory' | 'cluster' | readonly string[];
  /** Only the words that `complete` lists are taken. */
  readonly closed?: boolean;
}

export interface Option {
  /** Without dashes: `max-workers`. Reaches `run` as `options.maxWorkers`. */
  readonly name: string;
  readonly short?: string;
  readonly summary: string;
  /** Name of the switch that says the opposite; with it the option is true unless that is given. */
  readonly off?: string;
  /** Name of the value in help; absent for a switch. */
  readonly value?: string;
  readonly type?: 'string' | 'integer' | 'number';
  /** The least and the most that a number may be. */
  readonly min?: number;
  readonly max?: number;
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** Choices are understood in capitals and small letters. */
  readonly anyCase?: boolean;
  /** The value is text for another program and may begin with a dash. */
  readonly dashed?: boolean;
  /** Names of options that cannot be given together with this one. */
  readonly excludes?: readonly string[];
  /** One of these options must be given too. */
  readonly needs?: readonly string[];
  /** Understood and without effect, because Ray has it; the text says why. */
  readonly ignored?: string;
  readonly default?: string | number;
  /** `cluster-name`: the names of clusters that are known here. */
  readonly complete?: 'file' | 'directory' | 'cluster-name';
}

/** What is typed after the command's words; `Values` are those of its options, see `OptionValues`. */
export interface Invocation<Values = object> {
  /** By position, as typed. */
  readonly args: readonly string[];
  readonly options: Values;
  /** What followed `--` where the command passes it through. */
  readonly rest: readonly string[];
  /** The word given for the argument CLUSTER: a file, a URL, `-`, or a name; see `shared/find-cluster.ts`. */
  readonly cluster?: string;
}

/** Of a command with these options, or more. */
export type InvocationOf<Options extends readonly Option[]> = Invocation<OptionValues<Options>>;

/** For code that does not know which command it is of. */
export type ParsedInvocation = Invocation<Readonly<Record<string, OptionValue>>>;

/** Everything a command may touch of the terminal and the process. */
export interface Io {
  /** The result of the command, on standard output. Bytes are written as they are. */
  out(text: string | Uint8Array): void;
  /** What happens on the way: live lines on a terminal, plain lines without one, JSON lines with `--json`, on standard error. */
  readonly events: EventSink;
  readonly stdin: Readable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Standard output is a terminal. */
  readonly terminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Called by a script under the name of `ray`: what such scripts read of the output is as Ray writes it. */
  readonly asRay?: boolean;
  /** `--json` was given: `out` gets JSON lines only. */
  readonly json: boolean;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * From now on Ctrl-C calls `listener` instead of aborting `signal`, until the returned function is called.
   * Absent where nobody can press it.
   */
  readonly takeInterrupts?: (listener: () => void) => () => void;
}

/** Returns the exit code; throws MantaError for what the user must know. */
export type Run<Options extends readonly Option[] = readonly []> = (
  invocation: InvocationOf<Options>,
  io: Io,
) => Promise<number>;
