import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { execErrors } from '../launcher/exec-errors.ts';
import type { Io } from './command.ts';

/** Asks a question that is answered by y or n. Where nobody can answer, and `--yes` was not given, it is an error. */
export async function confirmed(question: string, yes: boolean, io: Io): Promise<boolean> {
  if (yes) return true;
  if (!isatty(0)) throw execErrors.NobodyToAsk({ question });
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal: io.signal })).trim());
  } finally {
    lines.close();
  }
}
