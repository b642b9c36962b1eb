import type { MantaEvent } from '../../base/events.ts';

/** One way to show what happens. All of them are fed the same events, errors and results. */
export interface Renderer {
  event(event: MantaEvent): void;
  failure(failure: Failure): void;
  /** The command's result, on standard output. */
  out(text: string | Uint8Array): void;
  /** Leaves the terminal as it was found. */
  close(): void;
}

/** An error as it is shown. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** With `--verbose`: each cause in turn, and for a fault of Manta's own where it was raised. */
  readonly details: readonly string[];
}

export interface Streams {
  stdout(text: string | Uint8Array): void;
  stderr(text: string): void;
}

export interface Verbosity {
  readonly verbose: boolean;
  readonly quiet: boolean;
}

export function isShown(event: MantaEvent, { verbose, quiet }: Verbosity): boolean {
  if (event.level === 'debug') return verbose;
  if (event.level === 'info') return !quiet;
  return true;
}

// What a remote machine says may carry escape sequences; shown as they are they could rewrite the screen.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(controls, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
