/** What stands behind the last character. */
export const END = -1;

const TAB = 0x09;
const SPACE = 0x20;
const BYTE_ORDER_MARK = 0xfeff;

/** The five line breaks of YAML 1.1. */
export const isBreak = (code: number): boolean =>
  code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
export const isBreakOrEnd = (code: number): boolean => code === END || isBreak(code);
/** Spaces, breaks and the end; what a directive or a tag must be followed by. */
export const isSpaceOrBreak = (code: number): boolean => code === SPACE || isBreakOrEnd(code);
/** As `isSpaceOrBreak`, tabs too; what makes `-`, `?`, `:` and `---` indicators. */
export const isBlank = (code: number): boolean => code === TAB || isSpaceOrBreak(code);
export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
export const isHexDigit = (code: number): boolean =>
  isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
/** Letters, digits, `-` and `_` of ASCII: names of anchors, directives and tag handles. */
export const isWord = (code: number): boolean =>
  isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x2d || code === 0x5f;

/** Where reading stands in a text. Columns and distances count characters as Python does, offsets count code units. */
export class Cursor {
  readonly text: string;
  offset = 0;
  /** Line breaks passed so far. */
  line = 0;
  #lineStart = 0;
  /** Up to where the counts below hold; they only grow, so that columns cost no second look at a long line. */
  #counted = 0;
  #pairs = 0;
  #pairsBeforeLine = 0;
  #marksInLine = 0;
  readonly #uniform: boolean;

  constructor(text: string) {
    this.text = text;
    this.#uniform = !/[\uD800-\uDBFF\uFEFF]/.test(text);
  }

  /** The code unit so far ahead, or END. */
  peek(ahead = 0): number {
    const at = this.offset + ahead;
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  /** Characters since the start of the line; byte order marks have no width. */
  get column(): number {
    if (this.#uniform) return this.offset - this.#lineStart;
    this.#count();
    return this.offset - this.#lineStart - (this.#pairs - this.#pairsBeforeLine) - this.#marksInLine;
  }

  /** Characters since the start of the text. */
  get index(): number {
    if (this.#uniform) return this.offset;
    this.#count();
    return this.offset - this.#pairs;
  }

  /** Passes over a line break and returns what it stands for in a scalar; empty when there is none here. */
  takeBreak(): string {
    const code = this.peek();
    if (!isBreak(code)) return '';
    if (!this.#uniform) this.#count();
    this.offset += code === 0x0d && this.peek(1) === 0x0a ? 2 : 1;
    this.line += 1;
    this.#lineStart = this.offset;
    this.#counted = this.offset;
    this.#pairsBeforeLine = this.#pairs;
    this.#marksInLine = 0;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n';
  }

  skipSpaces(): void {
    while (this.peek() === SPACE) this.offset += 1;
  }

  skipLine(): void {
    while (!isBreakOrEnd(this.peek())) this.offset += 1;
  }

  /** Takes the characters for which `test` holds. */
  takeWhile(test: (code: number) => boolean): string {
    const start = this.offset;
    while (this.offset < this.text.length && test(this.text.charCodeAt(this.offset))) this.offset += 1;
    return this.text.slice(start, this.offset);
  }

  /** `---` or `...` followed by a blank. The caller knows that a line starts here. */
  atDocumentMarker(): boolean {
    const code = this.peek();
    return (code === 0x2d || code === 0x2e) && this.peek(1) === code && this.peek(2) === code && isBlank(this.peek(3));
  }

  /** The character here, quoted for a message. */
  shown(): string {
    const code = this.text.codePointAt(this.offset);
    if (code === undefined) return 'the end of the file';
    if (code === TAB) return 'a tab';
    return isBreak(code) ? 'the end of the line' : `'${String.fromCodePoint(code)}'`;
  }

  #count(): void {
    for (; this.#counted < this.offset; this.#counted += 1) {
      const code = this.text.charCodeAt(this.#counted);
      if (code >= 0xdc00 && code <= 0xdfff) this.#pairs += 1;
      else if (code === BYTE_ORDER_MARK) this.#marksInLine += 1;
    }
  }
}
