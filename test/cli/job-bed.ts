import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { main, type ProcessContext } from '../../src/cli/main.ts';
import type { OutputStream } from '../../src/cli/output.ts';

export interface Ran {
  readonly exit: number;
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly ended: Promise<Ran>;
  /** What was shown so far. */
  stdout(): string;
  stderr(): string;
  pressCtrlC(): void;
  type(text: string): void;
  stop(): void;
}

export interface Place {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly terminal?: boolean;
}

/** A home in which nothing is found by accident. */
const emptyHome = mkdtempSync(join(tmpdir(), 'manta-home-'));
process.on('exit', () => rmSync(emptyHome, { recursive: true, force: true }));

/** Runs a command line in this process, with edges that a test holds. */
export function startManta(words: readonly string[], { env = {}, cwd = emptyHome, terminal = false }: Place): Running {
  const shown = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const stream = (name: keyof typeof shown): OutputStream => ({
    isTTY: terminal,
    columns: 200,
    rows: 50,
    write(text, done) {
      shown[name].push(Buffer.from(text));
      done?.();
      return true;
    },
    on: () => undefined,
  });
  const text = (name: keyof typeof shown): string => Buffer.concat(shown[name]).toString('utf8');
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal });
  const stop = new AbortController();
  let onInterrupt: (() => void) | undefined;
  const surroundings: ProcessContext = {
    stdin,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { HOME: emptyHome, MANTA_HOME: join(emptyHome, '.manta'), ...env },
    cwd: () => cwd,
    takeInterrupts(listener) {
      onInterrupt = listener;
      return () => {
        onInterrupt = undefined;
      };
    },
  };
  const ended = main(words, surroundings, stop).then((exit) => ({
    exit,
    bytes: Buffer.concat(shown.stdout),
    stdout: text('stdout'),
    stderr: text('stderr'),
  }));
  return {
    ended,
    stdout: () => text('stdout'),
    stderr: () => text('stderr'),
    pressCtrlC: () => (onInterrupt === undefined ? stop.abort({ signal: 'SIGINT', exit: 130 }) : onInterrupt()),
    type: (line) => void stdin.write(line),
    stop: () => stop.abort({ signal: 'SIGTERM', exit: 143 }),
  };
}

export const runManta = (words: readonly string[], place: Place): Promise<Ran> => startManta(words, place).ended;
