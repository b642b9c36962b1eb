import { readShell, shellCommand } from '../shell/shell-file.ts';

const program = readShell(new URL('./edit-lines.sh', import.meta.url));

export interface LineEdit {
  /** A text of the user's on a host: a file, relative to the home there, or the table of cron. */
  readonly target: 'crontab' | `.${string}`;
  /** Lines that match go; a basic regular expression, made of words by `literally`. */
  readonly pattern: string;
  /** Put at the end. It matches the pattern: the same edit again finds nothing to do. */
  readonly line?: string;
}

/**
 * Sh command that edits a text of the user's, the only way in which Manta does: whole or not at all. Ends with 0 when the
 * text is as it should be; otherwise it was left as it was, and the reason is on standard error.
 */
export const editLinesText = ({ target, pattern, line = '' }: LineEdit): string =>
  shellCommand(program, { target, pattern, line });

/** The basic regular expression that matches these words. */
export const literally = (words: string): string => words.replace(/[.*[\]^$\\]/g, '\\$&');
