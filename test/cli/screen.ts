import { Readable } from 'node:stream';
import type { Command, Run } from '../../src/cli/command.ts';
import { main, type ProcessContext } from '../../src/cli/main.ts';
import type { OutputStream } from '../../src/cli/output.ts';

/** A process's edges, recorded. */
export interface Screen extends ProcessContext {
  readonly shown: { stdout: string; stderr: string };
  /** As if the reader of standard output went away. */
  closeOutput(): void;
}

export function screen(options: { terminal?: boolean; env?: Record<string, string>; columns?: number } = {}): Screen {
  const shown = { stdout: '', stderr: '' };
  let onError: ((error: NodeJS.ErrnoException) => void) | undefined;
  const stream = (name: keyof typeof shown): OutputStream => ({
    isTTY: options.terminal ?? false,
    columns: options.columns ?? 80,
    rows: 24,
    write(text, done) {
      shown[name] += text;
      done?.();
      return true;
    },
    on(_event, listener) {
      if (name === 'stdout') onError = listener;
    },
  });
  return {
    shown,
    stdin: Readable.from([]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: options.env ?? {},
    cwd: () => '/here',
    closeOutput: () => onError?.(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  };
}

/** A table with one command, `try`, that does what the test wants. */
export function trying(run: Run, more: Partial<Command> = {}): Command[] {
  return [{ path: ['try'], summary: 'a command', args: [], options: [], ...more, load: async () => ({ run }) }];
}

export async function runTry(run: Run, words: readonly string[] = [], on: Screen = screen()): Promise<number> {
  return await main(['try', ...words], on, new AbortController(), trying(run));
}
