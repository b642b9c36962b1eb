import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { bringupErrors } from '../errors.ts';
import { bringupEvents } from '../events.ts';
import { stepsFolder } from '../node/node.ts';
import type { KnownStep } from '../node/prepare.ts';
import { runStep } from './step.ts';
import { tellWaits } from './through-drops.ts';

/** Commands of one part of a node, in order, each a step of its own. */
export interface CommandList {
  readonly node: string;
  readonly cluster: string;
  readonly part: 'initialization' | 'setup' | 'start';
  /** Under the same word a command that is done is not run again. */
  readonly nonce: string;
  readonly commands: readonly string[];
  /** Steps that are on the host already. */
  readonly known: readonly KnownStep[];
  /** Sh program that runs a command at its place. */
  readonly program: (command: string) => string;
}

/** Setup commands are written to be run again; once is enough to get over a mirror that was away. */
const tries = 2;
const silence = 30_000;
const keptLines = 30;
const words = { initialization: 'initialization command', setup: 'setup command', start: 'start command' };

/**
 * Runs what is not done. A command that an earlier run has begun is followed, and one that it completed is not run again;
 * one that failed or was ended is run again. The first that fails for good ends it.
 */
export async function runCommands(
  host: Host,
  list: CommandList,
  events: EventSink,
  tell: (step: string, detail?: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, command] of list.commands.entries()) {
    tell(words[list.part], `${index + 1} of ${list.commands.length}: ${oneLine(command)}`);
    const base = `${list.part}-${index}-${list.nonce}-${hashOf(command)}`;
    for (let attempt = firstAttempt(list.known, base), tried = 1; ; attempt++, tried++) {
      if (list.known.some((step) => step.id === `${base}-${attempt}` && step.code === 0)) break;
      const { code, output } = await follow(host, list, `${base}-${attempt}`, command, events, signal);
      if (code === 0) break;
      if (tried >= tries || list.part === 'start')
        throw bringupErrors.CommandFailed({
          node: list.node,
          cluster: list.cluster,
          phase: words[list.part],
          command,
          code,
          output,
        });
      events.emit(bringupEvents.retrying, { node: list.node, command: oneLine(command), code });
    }
  }
}

/** The attempt to look at: one that is running or done, or the one after the last that failed or was ended. */
function firstAttempt(known: readonly KnownStep[], base: string): number {
  const before = known
    .filter((step) => step.id.startsWith(`${base}-`))
    .map((step) => ({ number: Number(step.id.slice(base.length + 1)), code: step.code }))
    .sort((a, b) => b.number - a.number)[0];
  if (before === undefined) return 1;
  return before.code === undefined || before.code === 0 ? before.number : before.number + 1;
}

async function follow(
  host: Host,
  list: CommandList,
  id: string,
  command: string,
  events: EventSink,
  signal: AbortSignal,
): Promise<{ readonly code: number; readonly output: string }> {
  const { node } = list;
  const decoder = new StringDecoder('utf8');
  const tail: string[] = [];
  let rest = '';
  let heard = performance.now();
  const line = (text: string): void => {
    events.emit(bringupEvents.output, { node, line: text });
    tail.push(text);
    if (tail.length > keptLines) tail.shift();
  };
  const watch = setInterval(() => {
    const seconds = Math.round((performance.now() - heard) / 1_000);
    events.emit(bringupEvents.silent, { node, command: oneLine(command), seconds, last: tail.at(-1) ?? '' });
  }, silence);
  watch.unref();
  try {
    const { code } = await runStep(
      host,
      { folder: stepsFolder(list.cluster), id, program: list.program(command), shell: 'sh' },
      {
        signal,
        onOutput: (bytes) => {
          heard = performance.now();
          watch.refresh();
          const parts = (rest + decoder.write(Buffer.from(bytes))).split('\n');
          rest = parts.pop() ?? '';
          for (const part of parts) line(part.replace(/\r$/, ''));
        },
        onReattach: tellWaits((why) => events.emit(bringupEvents.reattached, { node, why })),
      },
    );
    if (rest !== '') line(rest);
    return { code, output: tail.join('\n') };
  } catch (error) {
    // Nobody knows how far it came: it is a failure like any other, and what it said is still there.
    if (!bringupErrors.StepLost.is(error) || error.data.why === 'ended') throw error;
    return { code: -1, output: [...tail, error.message].join('\n') };
  } finally {
    clearInterval(watch);
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function oneLine(command: string): string {
  const line = command.trim().replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}
