import { ownValue } from '../../base/own-value.ts';
import { jobErrors } from '../errors.ts';

/** Linux hands a process no `NAME=value` longer than this: a longer one could only fail later and less clearly. */
const longestVariable = 128 << 10;
/** All of them together; Linux allows about 2 MiB along with the arguments. */
const longestTogether = 1 << 20;

/**
 * Replaces `${NAME}` and `$NAME` by what is set where the job runs; an unknown `${NAME}` is empty. As Ray does. Takes time
 * in proportion to what it reads and writes, and refuses to write more than a process can be given: variables may name
 * each other, so that a few short ones could grow without end.
 */
export function expandVariables(
  vars: Readonly<Record<string, string>>,
  base: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const own = new Map<string, string>();
  const valueOf = (name: string): string | undefined => own.get(name) ?? ownValue(base, name);
  let total = 0;
  for (const [name, value] of Object.entries(vars)) {
    const expanded = replaceNames(name, value, valueOf).replaceAll(/\$\{[A-Z0-9_]+\}/g, '');
    total += name.length + expanded.length;
    if (total > longestTogether) throw tooLong('', `take more than ${longestTogether} characters`);
    own.set(name, expanded);
  }
  return Object.fromEntries(own);
}

function replaceNames(variable: string, text: string, valueOf: (name: string) => string | undefined): string {
  const lastClosed = text.lastIndexOf('}');
  let done = '';
  let copied = 0;
  const put = (piece: string): void => {
    done += piece;
    if (variable.length + done.length >= longestVariable)
      throw tooLong(`['${variable.slice(0, 100)}']`, `takes more than ${longestVariable} characters`);
  };
  for (let at = text.indexOf('$'); at >= 0; ) {
    // What is never closed is not looked for again behind every opening.
    const braced = text[at + 1] === '{' && at + 2 <= lastClosed;
    const begin = at + (braced ? 2 : 1);
    const end = braced ? text.indexOf('}', begin) : endOfWord(text, begin);
    const value = valueOf(text.slice(begin, end));
    const behind = braced ? end + 1 : end;
    if (value !== undefined && end > begin) {
      put(text.slice(copied, at));
      put(value);
      copied = behind;
    }
    at = text.indexOf('$', behind);
  }
  put(text.slice(copied));
  return done;
}

function endOfWord(text: string, from: number): number {
  const word = /\w*/y;
  word.lastIndex = from;
  word.test(text);
  return word.lastIndex;
}

const tooLong = (name: string, problem: string): Error =>
  jobErrors.Invalid({ field: `runtime_env['env_vars']${name}`, problem });
