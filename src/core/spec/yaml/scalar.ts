import { ownValue } from '../../../base/own-value.ts';
import { type Cursor, END, isBlank, isBreak, isBreakOrEnd, isDigit, isHexDigit } from './cursor.ts';
import { YamlError, yamlProblems } from './problems.ts';
import type { Token } from './token.ts';

const TAB = 0x09;
const SPACE = 0x20;
const HASH = 0x23;
const COLON = 0x3a;
const isFlowIndicator = (code: number): boolean =>
  code === 0x2c || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
const isSpaceOrTab = (code: number): boolean => code === SPACE || code === TAB;

/** Line breaks inside a flow scalar: one folds to a space, more keep all but the first. */
const fold = (first: string, others: string): string => (first !== '\n' ? first : others === '' ? ' ' : '') + others;

/**
 * A scalar without quotes. `indent` is the least column of its further lines, undefined inside brackets.
 * `endsLine` tells that reading stopped at the start of a later line, where a key may stand.
 */
export function scanPlain(cursor: Cursor, indent: number | undefined): { token: Token; endsLine: boolean } {
  const start = cursor.offset;
  let end = start;
  let text = '';
  let gap = '';
  let endsLine = false;
  while (cursor.peek() !== HASH) {
    const chunk = takePlainWord(cursor, indent === undefined);
    if (chunk === '') break;
    endsLine = false;
    text += gap + chunk;
    end = cursor.offset;
    const space = takePlainSpace(cursor);
    endsLine = space.brokeLine;
    if (space.text === '' || (indent !== undefined && cursor.column < indent)) break;
    gap = space.text;
  }
  return { token: { kind: 'scalar', start, end, text, plain: true }, endsLine };
}

function takePlainWord(cursor: Cursor, flow: boolean): string {
  const { text } = cursor;
  const start = cursor.offset;
  for (; cursor.offset < text.length; cursor.offset += 1) {
    const code = text.charCodeAt(cursor.offset);
    if (isBlank(code)) break;
    if (code === COLON) {
      const next = cursor.peek(1);
      if (isBlank(next) || (flow && isFlowIndicator(next))) break;
    }
    if (flow && (isFlowIndicator(code) || code === 0x3f)) break;
  }
  return text.slice(start, cursor.offset);
}

/** Spaces and line breaks between two words of a plain scalar; empty text where the scalar cannot go on. */
function takePlainSpace(cursor: Cursor): { text: string; brokeLine: boolean } {
  const spaces = cursor.takeWhile((code) => code === SPACE);
  const first = cursor.takeBreak();
  if (first === '') return { text: spaces, brokeLine: false };
  if (cursor.atDocumentMarker()) return { text: '', brokeLine: true };
  let others = '';
  for (;;) {
    cursor.skipSpaces();
    const next = cursor.takeBreak();
    if (next === '') return { text: fold(first, others), brokeLine: true };
    others += next;
    if (cursor.atDocumentMarker()) return { text: '', brokeLine: true };
  }
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1B',
  ' ': ' ',
  '"': '"',
  '\\': '\\',
  '/': '/',
  N: '\x85',
  _: '\xA0',
  L: '\u2028',
  P: '\u2029',
};
const codeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** A scalar in single or double quotes. */
export function scanQuoted(cursor: Cursor): Token {
  const start = cursor.offset;
  const quote = cursor.peek();
  const double = quote === 0x22;
  const parts: string[] = [];
  cursor.offset += 1;
  for (;;) {
    const code = cursor.peek();
    if (code === quote) {
      if (double || cursor.peek(1) !== quote) break;
      parts.push("'");
      cursor.offset += 2;
    } else if (code === END) {
      throw new YamlError(yamlProblems.syntax, start, 'this quote is never closed', 'add the closing quote');
    } else if (isSpaceOrTab(code) || isBreak(code)) {
      const spaces = cursor.takeWhile(isSpaceOrTab);
      const first = cursor.takeBreak();
      parts.push(first === '' ? spaces : fold(first, takeQuotedBreaks(cursor, start)));
    } else if (double && code === 0x5c) {
      parts.push(takeEscape(cursor, start));
    } else {
      parts.push(cursor.takeWhile((c) => c !== quote && !isBlank(c) && !(double && c === 0x5c)));
    }
  }
  cursor.offset += 1;
  return { kind: 'scalar', start, end: cursor.offset, text: parts.join('') };
}

function takeQuotedBreaks(cursor: Cursor, start: number): string {
  let breaks = '';
  for (;;) {
    if (cursor.atDocumentMarker()) {
      throw new YamlError(
        yamlProblems.syntax,
        start,
        'this quote is not closed before the end of the document',
        'add the closing quote',
      );
    }
    cursor.takeWhile(isSpaceOrTab);
    const next = cursor.takeBreak();
    if (next === '') return breaks;
    breaks += next;
  }
}

function takeEscape(cursor: Cursor, start: number): string {
  cursor.offset += 1;
  if (isBreak(cursor.peek())) {
    cursor.takeBreak();
    return takeQuotedBreaks(cursor, start);
  }
  const letter = cursor.text.charAt(cursor.offset);
  const plain = ownValue(escapes, letter);
  if (plain !== undefined) {
    cursor.offset += 1;
    return plain;
  }
  const length = ownValue(codeLengths, letter);
  if (length === undefined) {
    throw new YamlError(
      yamlProblems.syntax,
      cursor.offset - 1,
      `unknown escape '\\${letter}' in double quotes`,
      "write '\\\\' for a backslash, or use single quotes",
    );
  }
  cursor.offset += 1;
  for (let k = 0; k < length; k += 1) {
    if (!isHexDigit(cursor.peek(k))) {
      throw new YamlError(yamlProblems.syntax, cursor.offset - 2, `'\\${letter}' needs ${length} hexadecimal digits`);
    }
  }
  const code = Number.parseInt(cursor.text.slice(cursor.offset, cursor.offset + length), 16);
  if (code > 0x10ffff)
    throw new YamlError(yamlProblems.syntax, cursor.offset - 2, 'this escape is not a Unicode character');
  cursor.offset += length;
  return String.fromCodePoint(code);
}

/** A literal (`|`) or folded (`>`) scalar inside a block of the given indentation (-1 at the top). */
export function scanBlockScalar(cursor: Cursor, blockIndent: number): Token {
  const start = cursor.offset;
  const folded = cursor.peek() === 0x3e;
  cursor.offset += 1;
  const { chomp, increment } = takeBlockHeader(cursor);
  const least = Math.max(1, blockIndent + 1);
  const parts: string[] = [];
  let end = cursor.offset;
  let indent: number;
  let blanks: string;
  if (increment === undefined) {
    const found = takeLeadingBlanks(cursor);
    indent = Math.max(least, found.widest);
    blanks = found.breaks;
  } else {
    indent = least + increment - 1;
    blanks = takeBlanks(cursor, indent);
  }
  let lineBreak = '';
  while (cursor.column === indent && cursor.peek() !== END) {
    parts.push(blanks);
    const indented = isSpaceOrTab(cursor.peek());
    const from = cursor.offset;
    cursor.skipLine();
    parts.push(cursor.text.slice(from, cursor.offset));
    lineBreak = cursor.takeBreak();
    end = cursor.offset;
    blanks = takeBlanks(cursor, indent);
    if (cursor.column !== indent || cursor.peek() === END) break;
    const joins = folded && lineBreak === '\n' && !indented && !isSpaceOrTab(cursor.peek());
    if (!joins) parts.push(lineBreak);
    else if (blanks === '') parts.push(' ');
  }
  if (chomp !== 'strip') parts.push(lineBreak);
  if (chomp === 'keep') parts.push(blanks);
  return { kind: 'scalar', start, end, text: parts.join('') };
}

function takeBlockHeader(cursor: Cursor): { chomp?: 'keep' | 'strip'; increment?: number } {
  const header: { chomp?: 'keep' | 'strip'; increment?: number } = {};
  const takeChomp = (): void => {
    const code = cursor.peek();
    if (code !== 0x2b && code !== 0x2d) return;
    header.chomp = code === 0x2b ? 'keep' : 'strip';
    cursor.offset += 1;
  };
  const takeIncrement = (): void => {
    const code = cursor.peek();
    if (!isDigit(code)) return;
    if (code === 0x30)
      throw new YamlError(
        yamlProblems.syntax,
        cursor.offset,
        'the indentation of a block scalar must be a digit from 1 to 9',
      );
    header.increment = code - 0x30;
    cursor.offset += 1;
  };
  takeChomp();
  takeIncrement();
  if (header.chomp === undefined) takeChomp();
  const spaced = cursor.peek() === SPACE;
  cursor.skipSpaces();
  if (spaced && cursor.peek() === HASH) cursor.skipLine();
  if (!isBreakOrEnd(cursor.peek())) {
    throw new YamlError(
      yamlProblems.syntax,
      cursor.offset,
      `found ${cursor.shown()} after the '|' or '>' of a block scalar`,
      'start the text on the next line, or quote it',
    );
  }
  cursor.takeBreak();
  return header;
}

/** Blank lines before the first line of a block scalar, whose indentation they share in setting. */
function takeLeadingBlanks(cursor: Cursor): { breaks: string; widest: number } {
  let breaks = '';
  let widest = 0;
  for (;;) {
    cursor.skipSpaces();
    widest = Math.max(widest, cursor.column);
    const next = cursor.takeBreak();
    if (next === '') return { breaks, widest };
    breaks += next;
  }
}

/** Blank lines inside a block scalar; leaves the cursor at the indentation of the next line, or before it. */
function takeBlanks(cursor: Cursor, indent: number): string {
  let breaks = '';
  for (;;) {
    while (cursor.peek() === SPACE && cursor.column < indent) cursor.offset += 1;
    const next = cursor.takeBreak();
    if (next === '') return breaks;
    breaks += next;
  }
}
