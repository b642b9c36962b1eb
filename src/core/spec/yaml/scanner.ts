import { Cursor, END, isBlank } from './cursor.ts';
import { scanAnchor, scanDirective, scanTag } from './markup.ts';
import { YamlError, yamlProblems } from './problems.ts';
import { scanBlockScalar, scanPlain, scanQuoted } from './scalar.ts';
import type { Token, TokenKind } from './token.ts';

/** A simple key ends on its line, within this many characters. */
const LONGEST_KEY = 1024;
const BYTE_ORDER_MARK = 0xfeff;

/** A place in the queue where a key may turn out to start, once its ':' is found. */
interface Candidate {
  readonly start: number;
  readonly index: number;
  readonly line: number;
  readonly column: number;
  /** Nothing but a key may stand here. */
  readonly required: boolean;
  readonly mapping: Slot;
  readonly key: Slot;
}

/** Filled with a token, found to be empty (`null`), or still open. */
interface Slot {
  token: Token | null | undefined;
}

const flowSigns: ReadonlyMap<number, TokenKind> = new Map([
  [0x5b, 'sequence-open'],
  [0x7b, 'mapping-open'],
  [0x5d, 'sequence-close'],
  [0x7d, 'mapping-close'],
  [0x2c, 'comma'],
]);
/** What a plain scalar cannot start with; `-`, `?` and `:` it can when no blank follows. */
const indicators = new Set([...'-?:,[]{}#&*!|>\'"%@`'].map((sign) => sign.charCodeAt(0)));

/**
 * Turns a text into tokens, one look ahead at a time. Takes what PyYAML's scanner takes: tabs are no white space, a
 * simple key has at most 1024 characters, '?' ends a plain scalar inside brackets, indentation is free there.
 */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #queue: Slot[] = [];
  #head = 0;
  /** Open brackets. */
  #level = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  /** By level. */
  readonly #candidates: (Candidate | undefined)[] = [];
  /** A key, and so a block collection, may start here. */
  #keyAllowed = true;
  /** Line on which the last plain scalar starts. */
  #plainLine = 0;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
    if (this.#cursor.peek() === BYTE_ORDER_MARK) this.#cursor.offset += 1;
  }

  /** The next token; the end of the stream again and again when that is reached. */
  peek(): Token {
    for (;;) {
      const slot = this.#queue[this.#head];
      if (slot === undefined || slot.token === undefined) this.#fetch();
      else if (slot.token === null) this.#head += 1;
      else return slot.token;
    }
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'stream-end') this.#head += 1;
    return token;
  }

  #fetch(): void {
    const cursor = this.#cursor;
    this.#skipToToken();
    this.#dropStaleCandidates();
    this.#unwind(cursor.column);
    const code = cursor.peek();
    const atLineStart = cursor.column === 0;
    if (code === END) this.#end();
    else if (atLineStart && code === 0x25) this.#directive();
    else if (atLineStart && cursor.atDocumentMarker())
      this.#documentMarker(code === 0x2d ? 'document-start' : 'document-end');
    else if (flowSigns.has(code)) this.#flowSign(flowSigns.get(code) as TokenKind);
    else if (code === 0x2d && isBlank(cursor.peek(1))) this.#entry();
    else if (code === 0x3f && (this.#level > 0 || isBlank(cursor.peek(1)))) this.#explicitKey();
    else if (code === 0x3a && (this.#level > 0 || isBlank(cursor.peek(1)))) this.#value();
    else if (code === 0x2a || code === 0x26) this.#keyable(() => scanAnchor(cursor));
    else if (code === 0x21) this.#keyable(() => scanTag(cursor));
    else if ((code === 0x7c || code === 0x3e) && this.#level === 0) this.#blockScalar();
    else if (code === 0x27 || code === 0x22) this.#keyable(() => scanQuoted(cursor));
    else if (this.#startsPlain(code)) this.#plain();
    else throw this.#unexpected(code);
  }

  #startsPlain(code: number): boolean {
    if (isBlank(code)) return false;
    if (!indicators.has(code)) return true;
    if (isBlank(this.#cursor.peek(1))) return false;
    return code === 0x2d || (this.#level === 0 && (code === 0x3f || code === 0x3a));
  }

  #unexpected(code: number): YamlError {
    const { offset } = this.#cursor;
    if (code === 0x09) return new YamlError(yamlProblems.tab, offset, 'found a tab where YAML wants spaces');
    const sign = String.fromCharCode(code);
    if (sign === '%' && this.#cursor.text.charAt(offset - 1) === '{') {
      return new YamlError(yamlProblems.syntax, offset - 1, "'{%' is not YAML", 'this is a template: render it first');
    }
    return new YamlError(
      yamlProblems.syntax,
      offset,
      `no value can start with '${sign}'`,
      `quote the value: "${sign}…"`,
    );
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    do {
      cursor.skipSpaces();
      if (cursor.peek() === 0x23) cursor.skipLine();
    } while (this.#passBreak());
  }

  #passBreak(): boolean {
    if (this.#cursor.takeBreak() === '') return false;
    if (this.#level === 0) this.#keyAllowed = true;
    return true;
  }

  #push(token: Token): void {
    this.#queue.push({ token });
  }

  #pushSign(kind: TokenKind, length = 1): void {
    const start = this.#cursor.offset;
    this.#cursor.offset += length;
    this.#push({ kind, start, end: this.#cursor.offset });
  }

  #pushEmpty(kind: TokenKind): void {
    const { offset } = this.#cursor;
    this.#push({ kind, start: offset, end: offset });
  }

  #unwind(column: number): void {
    if (this.#level > 0) return;
    while (this.#indent > column) {
      this.#indent = this.#indents.pop() as number;
      this.#pushEmpty('block-end');
    }
  }

  #deepen(column: number): boolean {
    if (this.#indent >= column) return false;
    this.#indents.push(this.#indent);
    this.#indent = column;
    return true;
  }

  #saveCandidate(): void {
    if (!this.#keyAllowed) return;
    this.#dropCandidate(this.#level);
    const { offset, index, line, column } = this.#cursor;
    const required = this.#level === 0 && this.#indent === column;
    const candidate: Candidate = {
      start: offset,
      index,
      line,
      column,
      required,
      mapping: { token: undefined },
      key: { token: undefined },
    };
    this.#queue.push(candidate.mapping, candidate.key);
    this.#candidates[this.#level] = candidate;
  }

  #dropCandidate(level: number): void {
    const candidate = this.#candidates[level];
    if (candidate === undefined) return;
    if (candidate.required) {
      throw new YamlError(
        yamlProblems.syntax,
        candidate.start,
        "expected ':' after this key",
        "add the missing ':', or indent the line if it continues the one above",
      );
    }
    this.#candidates[level] = undefined;
    candidate.mapping.token = null;
    candidate.key.token = null;
  }

  #dropStaleCandidates(): void {
    const { line, index } = this.#cursor;
    for (let level = 0; level < this.#candidates.length; level += 1) {
      const candidate = this.#candidates[level];
      if (candidate === undefined) continue;
      if (candidate.line !== line || index - candidate.index > LONGEST_KEY) this.#dropCandidate(level);
    }
  }

  #end(): void {
    this.#unwind(-1);
    this.#dropCandidate(this.#level);
    for (const candidate of this.#candidates) {
      if (candidate === undefined) continue;
      candidate.mapping.token = null;
      candidate.key.token = null;
    }
    this.#candidates.length = 0;
    this.#pushEmpty('stream-end');
  }

  #leaveBlocks(): void {
    this.#unwind(-1);
    this.#dropCandidate(this.#level);
    this.#keyAllowed = false;
  }

  #directive(): void {
    this.#leaveBlocks();
    this.#push(scanDirective(this.#cursor));
  }

  #documentMarker(kind: TokenKind): void {
    this.#leaveBlocks();
    this.#pushSign(kind, 3);
  }

  #flowSign(kind: TokenKind): void {
    const opens = kind === 'sequence-open' || kind === 'mapping-open';
    if (opens) {
      this.#saveCandidate();
      this.#level += 1;
    } else {
      this.#dropCandidate(this.#level);
      if (this.#level === 0) {
        throw new YamlError(
          yamlProblems.syntax,
          this.#cursor.offset,
          `found ${this.#cursor.shown()} outside of brackets`,
          'quote the value if it is text',
        );
      }
      if (kind !== 'comma') this.#level -= 1;
    }
    this.#keyAllowed = opens || kind === 'comma';
    this.#pushSign(kind);
  }

  #entry(): void {
    if (this.#level === 0) this.#startBlock('block-sequence-start', "a list item '-' is not allowed here");
    this.#keyAllowed = true;
    this.#dropCandidate(this.#level);
    this.#pushSign('entry');
  }

  #explicitKey(): void {
    if (this.#level === 0) this.#startBlock('block-mapping-start', "a key '?' is not allowed here");
    this.#keyAllowed = this.#level === 0;
    this.#dropCandidate(this.#level);
    this.#pushSign('key');
  }

  #startBlock(kind: TokenKind, refusal: string, hint?: string): void {
    if (!this.#keyAllowed) throw new YamlError(yamlProblems.syntax, this.#cursor.offset, refusal, hint);
    if (this.#deepen(this.#cursor.column)) this.#pushEmpty(kind);
  }

  #value(): void {
    const candidate = this.#candidates[this.#level];
    if (candidate === undefined) {
      if (this.#level === 0) {
        this.#startBlock('block-mapping-start', ...this.#strayColon());
      }
      this.#keyAllowed = this.#level === 0;
    } else {
      const { start } = candidate;
      this.#candidates[this.#level] = undefined;
      const opens = this.#level === 0 && this.#deepen(candidate.column);
      candidate.mapping.token = opens ? { kind: 'block-mapping-start', start, end: start } : null;
      candidate.key.token = { kind: 'key', start, end: start };
      this.#keyAllowed = false;
    }
    this.#pushSign('value');
  }

  #strayColon(): [message: string, hint: string] {
    if (this.#plainLine < this.#cursor.line) {
      return [
        "this line continues the value above it, so its ':' does not make it a key",
        'indent it like the keys it belongs with',
      ];
    }
    return [
      "a second ':' on one line, or a ':' without a key before it",
      'quote the value if it contains \': \', as in "a: b"',
    ];
  }

  /** A token that a simple key may start with. */
  #keyable(scan: () => Token): void {
    this.#saveCandidate();
    this.#keyAllowed = false;
    this.#push(scan());
  }

  #blockScalar(): void {
    this.#keyAllowed = true;
    this.#dropCandidate(this.#level);
    this.#push(scanBlockScalar(this.#cursor, this.#indent));
  }

  #plain(): void {
    this.#saveCandidate();
    this.#plainLine = this.#cursor.line;
    const { token, endsLine } = scanPlain(this.#cursor, this.#level > 0 ? undefined : this.#indent + 1);
    this.#keyAllowed = endsLine;
    this.#push(token);
  }
}
