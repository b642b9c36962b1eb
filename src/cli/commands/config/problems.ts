import { redact } from '../../../base/redact.ts';
import { fileProblems } from '../../../core/spec/check/file-problems.ts';
import type { Problem } from '../../../core/spec/problem.ts';
import type { Io } from '../../command.ts';
import { styleFor } from '../../render/style.ts';
import { isError } from '../../shared/load-file.ts';

/** Beyond so many nobody reads on; the last line counts the rest. */
const mostShown = 200;
const mostInJson = 10_000;

/** As many problems as are shown, errors before warnings, in the order of the file. */
function firstOf(problems: readonly Problem[], most: number): readonly Problem[] {
  if (problems.length <= most) return problems;
  const errors = problems.filter(isError).length;
  let [errorsLeft, warningsLeft] = [Math.min(errors, most), Math.max(0, most - errors)];
  return problems.filter((problem) => (isError(problem) ? errorsLeft-- > 0 : warningsLeft-- > 0));
}

/** The problems of a file as `--json` prints them; `more` counts those that are left out. */
export function problemsJson(file: string, problems: readonly Problem[]): string {
  const shown = firstOf(problems, mostInJson);
  const more = problems.length - shown.length;
  return `${JSON.stringify({ file, problems: shown.map(problemData), ...(more > 0 ? { more } : {}) })}\n`;
}

const problemData = (problem: Problem): object => ({
  code: problem.code,
  severity: problem.severity,
  line: problem.at.line,
  column: problem.at.column,
  message: problem.message,
  ...(problem.hint === undefined ? {} : { hint: problem.hint }),
});

/** Problems for people: position, code, message, the line with a caret, and what to do. */
export function problemText(file: string, bytes: Uint8Array, problems: readonly Problem[], io: Io): string {
  const style = styleFor(io.color);
  const name = file === '-' ? '<stdin>' : file;
  const lines =
    problems.length === 0
      ? []
      : Buffer.from(bytes)
          .toString('utf8')
          .split(/\r\n|\n|\r/);
  const shown = firstOf(problems, mostShown);
  const more = problems.length - shown.length;
  const text = shown
    .map((problem) => {
      const paint = problem.severity === 'error' ? style.red : style.yellow;
      // A file that could not be opened has no positions.
      const opened = problem.code !== fileProblems.Unreadable.code;
      const where = opened ? `${name}:${problem.at.line}:${problem.at.column}:` : `${name}:`;
      const head = `${style.bold(where)} ${paint(problem.severity)} ${problem.code} ${problem.message}\n`;
      const hint = problem.hint === undefined ? '' : `  ${style.cyan('hint:')} ${problem.hint}\n`;
      return (
        head + excerpt(lines[problem.at.line - 1], problem.at.line, problem.at.column, io.columns, style.dim) + hint
      );
    })
    .join('');
  return more > 0 ? `${text}and ${more.toLocaleString('en')} more\n` : text;
}

const windowed = 2_000;

function excerpt(
  line: string | undefined,
  number: number,
  column: number,
  columns: number,
  dim: (text: string) => string,
): string {
  if (line === undefined || line.trim() === '') return '';
  const gutter = String(number).padStart(5);
  const room = Math.max(40, Math.min(columns, 160) - gutter.length - 4);
  // Of a line without end only the part around the place is looked at; wide enough to know a secret that it cuts.
  const start = Math.max(0, column - windowed);
  const near = line.slice(start, column + windowed);
  const place = column - start;
  const characters = [...redact(near.replaceAll('\t', ' '))];
  const from = place > room - 10 ? Math.max(0, place - Math.floor(room / 2)) : 0;
  const part = characters.slice(from, from + room).join('');
  const caret = ' '.repeat(Math.max(0, Math.min(place - 1 - from, room)));
  const before = start + from > 0;
  const behind = from + room < characters.length || column + windowed < line.length;
  return `${dim(`${gutter} | `)}${before ? '…' : ''}${part}${behind ? '…' : ''}\n${dim(`${' '.repeat(gutter.length)} | `)}${before ? ' ' : ''}${caret}^\n`;
}

export const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
