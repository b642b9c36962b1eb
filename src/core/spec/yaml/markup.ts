import { type Cursor, END, isBlank, isDigit, isHexDigit, isSpaceOrBreak, isWord } from './cursor.ts';
import { YamlError, yamlProblems } from './problems.ts';
import type { Directive, TagToken, Token } from './token.ts';

const BANG = 0x21;
const PERCENT = 0x25;
const nameEnds = new Set([...'?:,]}%@`'].map((sign) => sign.charCodeAt(0)));
const uriSigns = new Set([..."-;/?:@&=+$,_.!~*'()[]%"].map((sign) => sign.charCodeAt(0)));
const isUri = (code: number): boolean => isWord(code) || uriSigns.has(code);

const wrong = (offset: number, message: string, hint?: string): YamlError =>
  new YamlError(yamlProblems.syntax, offset, message, hint);

/** `&name` or `*name`. */
export function scanAnchor(cursor: Cursor): Token {
  const start = cursor.offset;
  const sign = cursor.text.charAt(start);
  cursor.offset += 1;
  const text = cursor.takeWhile(isWord);
  const next = cursor.peek();
  if (text === '' || !(isBlank(next) || nameEnds.has(next))) {
    throw wrong(
      cursor.offset,
      `found ${cursor.shown()} in the name of ${sign === '*' ? 'an alias' : 'an anchor'}`,
      `quote the value if it is text that starts with '${sign}'`,
    );
  }
  return { kind: sign === '*' ? 'alias' : 'anchor', start, end: cursor.offset, text };
}

/** `!`, `!<uri>`, `!suffix` or `!handle!suffix`. */
export function scanTag(cursor: Cursor): Token {
  const start = cursor.offset;
  const tag = takeTag(cursor, start);
  if (!isSpaceOrBreak(cursor.peek()))
    throw wrong(cursor.offset, `found ${cursor.shown()} in a tag`, yamlProblems.tag.hint);
  return { kind: 'tag', start, end: cursor.offset, tag };
}

function takeTag(cursor: Cursor, start: number): TagToken {
  const next = cursor.peek(1);
  if (next === 0x3c) {
    cursor.offset += 2;
    const suffix = takeUri(cursor, start);
    if (cursor.peek() !== 0x3e)
      throw wrong(cursor.offset, `expected '>' at the end of the tag, found ${cursor.shown()}`);
    cursor.offset += 1;
    return { suffix };
  }
  if (isBlank(next)) {
    cursor.offset += 1;
    return { suffix: '!' };
  }
  let ahead = 1;
  while (!isSpaceOrBreak(cursor.peek(ahead)) && cursor.peek(ahead) !== BANG) ahead += 1;
  if (cursor.peek(ahead) === BANG) {
    const handle = takeHandle(cursor);
    return { handle, suffix: takeUri(cursor, start) };
  }
  cursor.offset += 1;
  return { handle: '!', suffix: takeUri(cursor, start) };
}

function takeHandle(cursor: Cursor): string {
  const start = cursor.offset;
  if (cursor.peek() !== BANG) throw wrong(start, `expected '!', found ${cursor.shown()}`);
  cursor.offset += 1;
  if (cursor.peek() === 0x20) return '!';
  cursor.takeWhile(isWord);
  if (cursor.peek() !== BANG)
    throw wrong(cursor.offset, `expected '!' at the end of the tag handle, found ${cursor.shown()}`);
  cursor.offset += 1;
  return cursor.text.slice(start, cursor.offset);
}

function takeUri(cursor: Cursor, start: number): string {
  let uri = '';
  for (;;) {
    uri += cursor.takeWhile((code) => code !== PERCENT && isUri(code));
    if (cursor.peek() !== PERCENT) break;
    uri += takeUriEscapes(cursor, start);
  }
  if (uri === '')
    throw wrong(cursor.offset, `expected the name of a tag, found ${cursor.shown()}`, yamlProblems.tag.hint);
  return uri;
}

function takeUriEscapes(cursor: Cursor, start: number): string {
  const bytes: number[] = [];
  while (cursor.peek() === PERCENT) {
    if (!isHexDigit(cursor.peek(1)) || !isHexDigit(cursor.peek(2))) {
      throw wrong(cursor.offset, "'%' in a tag needs two hexadecimal digits");
    }
    bytes.push(Number.parseInt(cursor.text.slice(cursor.offset + 1, cursor.offset + 3), 16));
    cursor.offset += 3;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    throw wrong(start, 'the escapes in this tag are not UTF-8');
  }
}

/** `%YAML`, `%TAG`, or another directive, which is passed over; up to the end of its line. */
export function scanDirective(cursor: Cursor): Token {
  const start = cursor.offset;
  cursor.offset += 1;
  const name = cursor.takeWhile(isWord);
  if (name === '' || !isSpaceOrBreak(cursor.peek())) {
    throw wrong(
      cursor.offset,
      `found ${cursor.shown()} in the name of a directive`,
      "quote the value if it is text that starts with '%'",
    );
  }
  const directive = takeDirective(cursor, name);
  const end = cursor.offset;
  if (directive.name === 'other') cursor.skipLine();
  cursor.skipSpaces();
  if (cursor.peek() === 0x23) cursor.skipLine();
  if (cursor.takeBreak() === '' && cursor.peek() !== END) {
    throw wrong(cursor.offset, `found ${cursor.shown()} after a directive`);
  }
  return { kind: 'directive', start, end, directive };
}

function takeDirective(cursor: Cursor, name: string): Directive {
  if (name === 'YAML') {
    cursor.skipSpaces();
    const major = takeVersionPart(cursor);
    if (cursor.peek() !== 0x2e) throw wrong(cursor.offset, `expected '.' in the version, found ${cursor.shown()}`);
    cursor.offset += 1;
    takeVersionPart(cursor);
    if (!isSpaceOrBreak(cursor.peek())) throw wrong(cursor.offset, `found ${cursor.shown()} after the version`);
    return { name, major };
  }
  if (name === 'TAG') {
    cursor.skipSpaces();
    const handle = takeHandle(cursor);
    if (cursor.peek() !== 0x20) throw wrong(cursor.offset, `found ${cursor.shown()} after a tag handle`);
    cursor.skipSpaces();
    const prefix = takeUri(cursor, cursor.offset);
    if (!isSpaceOrBreak(cursor.peek())) throw wrong(cursor.offset, `found ${cursor.shown()} after a tag prefix`);
    return { name, handle, prefix };
  }
  return { name: 'other' };
}

/** Only whether it is 1 matters; Python reads no more than 4300 digits. */
function takeVersionPart(cursor: Cursor): number {
  const digits = cursor.takeWhile(isDigit);
  if (digits === '' || digits.length > 4300)
    throw wrong(cursor.offset, `expected a version number, found ${cursor.shown()}`);
  return Number(digits);
}
