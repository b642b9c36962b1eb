import type { Readable } from 'node:stream';
import type { MantaError } from '../base/errors.ts';
import type { EventKind, Progress } from '../base/events.ts';
import type { Command, Io, ParsedInvocation } from './command.ts';
import { commands as allCommands, groups } from './commands.ts';
import { cliErrors } from './errors.ts';
import { cliEvents } from './events.ts';
import { failureOf, toMantaError } from './failure.ts';
import type { Globals } from './global-options.ts';
import { globalsTyped } from './global-options.ts';
import { helpText } from './help.ts';
import type { OutputStream } from './output.ts';
import { chooseRenderer, columnsOf, OutputClosed, openStreams } from './output.ts';
import { parse } from './parse/parse.ts';
import { wantsColor } from './render/style.ts';

/** What a run takes from its process; `node:process` is one of these. */
export interface ProcessContext {
  readonly stdin: Readable;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
  /** See `Io.asRay`. */
  readonly asRay?: boolean;
  /** See `Io.takeInterrupts`. */
  readonly takeInterrupts?: (listener: () => void) => () => void;
}

/** Why a run was asked to stop, and the exit code that says so. */
export interface Stop {
  readonly signal: string;
  readonly exit: number;
}

/** Runs one command line to its exit code. Everything that goes wrong is shown, nothing is thrown. */
export async function main(
  words: readonly string[],
  surroundings: ProcessContext,
  stop: AbortController = new AbortController(),
  commands: readonly Command[] = allCommands,
): Promise<number> {
  const { stdout, stderr, env } = surroundings;
  const streams = openStreams(stdout, stderr, () => stop.abort({ signal: 'SIGPIPE', exit: 141 } satisfies Stop));
  let renderer = chooseRenderer(globalsTyped(words), streams, stderr, env);
  let globals: Globals = globalsTyped(words);
  let untilInterrupted = false;
  const run = async (): Promise<number> => {
    const parsed = parse(words, commands);
    globals = parsed.globals;
    renderer = chooseRenderer(globals, streams, stderr, env);
    const shared = { surroundings, globals, renderer, signal: stop.signal };
    if (parsed.kind === 'run') {
      const io = ioOf(shared);
      untilInterrupted = endsByInterrupt(parsed.command, parsed.invocation);
      for (const each of parsed.ignored) io.events.emit(cliEvents.ignoredOption, each);
      return await (await parsed.command.load()).run(parsed.invocation, io);
    }
    if (parsed.kind === 'help') renderer.out(helpText(parsed.path, commands, groups, columnsOf(stdout)));
    else
      return await (await import('./commands/manta/version.ts')).run({ args: [], options: {}, rest: [] }, ioOf(shared));
    return 0;
  };
  const fail = (error: MantaError): number => {
    renderer.failure(failureOf(error, globals.verbose));
    return error.exit;
  };

  const isStop = (thrown: unknown): boolean =>
    thrown instanceof OutputClosed ||
    (stop.signal.aborted &&
      (thrown === stop.signal.reason || (thrown instanceof Error && thrown.name === 'AbortError')));

  let exit = 0;
  try {
    exit = await run();
  } catch (thrown) {
    if (!isStop(thrown)) exit = fail(toMantaError(thrown));
  }
  if (stop.signal.aborted) {
    const why = stop.signal.reason as Stop;
    if (why.signal !== 'SIGPIPE' && !untilInterrupted) fail(cliErrors.Interrupted(why));
    exit = why.exit;
  }
  renderer.close();
  await streams.flush();
  return exit === 0 && streams.closed() ? 141 : exit;
}

const endsByInterrupt = ({ untilInterrupted }: Command, { options }: ParsedInvocation): boolean =>
  typeof untilInterrupted === 'string' ? options[untilInterrupted] === true : untilInterrupted === true;

/** For a fault that no command was waiting for; returns the exit code. */
export function reportFault(
  thrown: unknown,
  words: readonly string[],
  { stdout, stderr, env }: ProcessContext,
): number {
  const globals = globalsTyped(words);
  const error = toMantaError(thrown);
  const renderer = chooseRenderer(
    globals,
    openStreams(stdout, stderr, () => {}),
    stderr,
    env,
  );
  renderer.failure(failureOf(error, globals.verbose));
  return error.exit;
}

function ioOf({ surroundings, globals, renderer, signal }: Wiring): Io {
  const { stdout, env } = surroundings;
  const terminal = stdout.isTTY === true;
  return {
    out: (text) => renderer.out(text),
    events: {
      emit<Data>(kind: EventKind<Data>, data: Data, progress?: Progress) {
        const { code, level } = kind;
        renderer.event({ code, level, at: Date.now(), text: kind.text(data), data, ...(progress && { progress }) });
      },
    },
    // Opening standard input keeps the process alive, so it waits until a command asks for it.
    get stdin() {
      return surroundings.stdin;
    },
    env,
    cwd: surroundings.cwd(),
    terminal,
    columns: columnsOf(stdout),
    color: !globals.json && wantsColor(globals.color, env, terminal),
    json: globals.json,
    asRay: surroundings.asRay === true && !globals.json,
    signal,
    ...(surroundings.takeInterrupts && { takeInterrupts: surroundings.takeInterrupts }),
  };
}

interface Wiring {
  readonly surroundings: ProcessContext;
  readonly globals: Globals;
  readonly renderer: ReturnType<typeof chooseRenderer>;
  readonly signal: AbortSignal;
}
