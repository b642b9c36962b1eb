import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import type { MantaError } from '../base/errors.ts';
import { launcherErrors } from '../launcher/errors.ts';
import type { Io } from './command.ts';

/** What to show before the question, and the error where nobody can answer it. */
interface Asking {
  readonly shown?: string;
  readonly nobody?: () => MantaError;
}

/** Asks a question that is answered by y or n, unless `--yes` answers it. Where nobody can answer it is an error. */
export async function confirmed(question: string, yes: boolean, io: Io, asking: Asking = {}): Promise<boolean> {
  if (yes) return true;
  if (!io.terminal && !isatty(0)) throw asking.nobody?.() ?? launcherErrors.ExecNobodyToAsk({ question });
  if (asking.shown !== undefined) process.stderr.write(asking.shown);
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  // An input that ends has said no.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal: io.signal }), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
