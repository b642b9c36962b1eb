/** A stretch of a line of output with the terminal colours that were asked for, as class names. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const sequence =
  /\u001b(?:\[([0-9;:?]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** The text alone, without escape sequences. */
export function plainText(line: string): string {
  return line.replace(sequence, '');
}

/** The line in stretches of equal look. Sequences other than colour, bold and the like are dropped. */
export function ansiSpans(line: string): readonly Span[] {
  const spans: Span[] = [];
  const look = { colour: '', bold: false, dim: false, italic: false, underline: false };
  let at = 0;
  const put = (text: string): void => {
    if (text === '') return;
    const classes = [
      look.colour === '' ? '' : `ansi-${look.colour}`,
      look.bold ? 'ansi-bold' : '',
      look.dim ? 'ansi-dim' : '',
      look.italic ? 'ansi-italic' : '',
      look.underline ? 'ansi-underline' : '',
    ];
    spans.push({ text, classes: classes.filter((name) => name !== '').join(' ') });
  };
  for (const match of line.matchAll(sequence)) {
    put(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === 'm') applyCodes(look, match[1] ?? '');
  }
  put(line.slice(at));
  return spans;
}

interface AnsiLook {
  colour: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

function applyCodes(look: AnsiLook, text: string): void {
  const codes = text.split(/[;:]/).map(Number);
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 0) Object.assign(look, { colour: '', bold: false, dim: false, italic: false, underline: false });
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underline = true;
    else if (code === 22) Object.assign(look, { bold: false, dim: false });
    else if (code === 23) look.italic = false;
    else if (code === 24) look.underline = false;
    else if (code >= 30 && code <= 37) look.colour = colours[code - 30] ?? '';
    else if (code >= 90 && code <= 97) look.colour = colours[code - 90] ?? '';
    else if (code === 39) look.colour = '';
    else if (code === 38 || code === 48) {
      // 256 and true colours take their own arguments; their exact shade is not drawn.
      index += codes[index + 1] === 5 ? 2 : 4;
    }
  }
}
