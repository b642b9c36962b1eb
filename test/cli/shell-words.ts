export interface Reading {
  /** Whether `|`, `&`, `;` end the command and `<`, `>` redirect it, as in a shell. @default true */
  readonly operators?: boolean;
  /** Whether ` #` begins a comment. @default true */
  readonly comments?: boolean;
  /** Whether a quote that is never closed ends with the line. @default false */
  readonly forgiving?: boolean;
}

/** The words of the first command on a line, as a shell splits them; undefined when the line is not one. Expands nothing. */
export function shellWords(line: string, reading: Reading = {}): string[] | undefined {
  const { operators = true, comments = true, forgiving = false } = reading;
  const words: string[] = [];
  let word: string | undefined;
  let skipNext = false;
  const end = (): void => {
    if (word !== undefined && !skipNext) words.push(word);
    if (word !== undefined) skipNext = false;
    word = undefined;
  };
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!;
    if (/\s/.test(letter)) end();
    else if (letter === '#' && word === undefined && comments) break;
    else if (letter === '\\') word = (word ?? '') + (line[++at] ?? '');
    else if (letter === "'" || letter === '"') {
      const read = quotedPart(line, at);
      if (!read.closed && !forgiving) return undefined;
      word = (word ?? '') + read.text;
      at = read.end;
    } else if (operators && letter === '`') return undefined;
    else if (operators && (letter === '<' || letter === '>' || line.startsWith('&>', at))) {
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      end();
      while (/[<>&-]/.test(line[at + 1] ?? '')) at++;
      skipNext = true;
    } else if (operators && /[|&;()]/.test(letter)) {
      end();
      return words;
    } else word = (word ?? '') + letter;
  }
  end();
  return words;
}

function quotedPart(line: string, from: number): { text: string; end: number; closed: boolean } {
  const quote = line[from];
  let text = '';
  for (let at = from + 1; at < line.length; at++) {
    const letter = line[at]!;
    if (letter === quote) return { text, end: at, closed: true };
    if (quote === '"' && letter === '\\' && /["\\$`]/.test(line[at + 1] ?? '')) text += line[++at];
    else text += letter;
  }
  return { text, end: line.length, closed: false };
}
