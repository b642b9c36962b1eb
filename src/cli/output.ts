import type { Globals } from './global-options.ts';
import { jsonRenderer } from './render/json.ts';
import { liveRenderer } from './render/live.ts';
import { plainRenderer } from './render/plain.ts';
import type { Renderer, Streams } from './render/renderer.ts';
import { styleFor, wantsColor } from './render/style.ts';

/** The part of a process's output stream that is used here. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/** Thrown by `out` once nobody reads any more, so that a command stops where it is. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/** Standard output and standard error of one run. A reader that goes away is noticed, not crashed on. */
export function openStreams(
  stdout: OutputStream,
  stderr: OutputStream,
  onClosed: () => void,
): Streams & { readonly closed: () => boolean; flush(): Promise<void> } {
  let outClosed = false;
  let errClosed = false;
  stdout.on('error', () => {
    if (!outClosed) onClosed();
    outClosed = true;
  });
  stderr.on('error', () => {
    errClosed = true;
  });
  return {
    stdout(text) {
      if (outClosed) throw new OutputClosed('standard output was closed');
      stdout.write(text);
    },
    stderr(text) {
      if (!errClosed) stderr.write(text);
    },
    closed: () => outClosed,
    async flush() {
      await Promise.all([drained(stdout), drained(stderr)]);
    },
  };
}

/** Resolves when all of it is written, or known to reach nobody. */
function drained(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}

/** `--json` lines when asked for, live lines on a terminal that can redraw, plain lines everywhere else. */
export function chooseRenderer(
  globals: Globals,
  streams: Streams,
  stderr: OutputStream,
  env: Readonly<Record<string, string | undefined>>,
): Renderer {
  if (globals.json) return jsonRenderer(streams, globals);
  const terminal = stderr.isTTY === true;
  const style = styleFor(wantsColor(globals.color, env, terminal));
  if (!terminal || env['TERM'] === 'dumb' || isSet(env['CI'])) return plainRenderer(streams, globals, style);
  return liveRenderer(streams, globals, style, {
    columns: () => columnsOf(stderr),
    rows: () => stderr.rows || 24,
    every: (milliseconds, call) => {
      const timer = setInterval(call, milliseconds);
      timer.unref();
      return { stop: () => clearInterval(timer) };
    },
  });
}

/** A terminal that does not know its size says 0. */
export const columnsOf = (stream: OutputStream): number => stream.columns || 80;

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== 'false';
