import type { Path } from '../problem.ts';
import type { Source } from '../source.ts';
import { type Edit, lineStart, newlineOf, nextLine } from './text-edit.ts';

/** Edits of a file's text, by the keys that stand in it. */
export class SourceEdits {
  readonly newline: string;
  readonly #edits: Edit[] = [];
  readonly #source: Source;
  readonly #text: string;

  constructor(source: Source) {
    this.#source = source;
    this.#text = source.text;
    this.newline = newlineOf(source.text);
  }

  get edits(): readonly Edit[] {
    return this.#edits;
  }

  edit(edit: Edit): void {
    this.#edits.push(edit);
  }

  /** Lines of a key with its value; undefined where the key does not begin its line. */
  linesOf(path: Path): { readonly start: number; readonly end: number; readonly indent: string } | undefined {
    const place = this.#source.rangeOf(path);
    if (!place?.key || place.shared) return undefined;
    const start = lineStart(this.#text, place.key.start);
    const indent = this.#text.slice(start, place.key.start);
    if (indent.trim() !== '') return undefined;
    const last = Math.max(place.key.end, place.value.end);
    return { start, end: nextLine(this.#text, this.endOfValue(place.key.end, last)), indent };
  }

  /** A block's value may end with the line break itself. */
  endOfValue(key: number, end: number): number {
    return end > key && this.#text[end - 1] === '\n' ? end - 1 : end;
  }

  /** Takes a key out; its comments stay where they are. */
  remove(path: Path): void {
    const lines = this.linesOf(path);
    if (!lines) return;
    const comments = this.commentsIn(lines).map((comment) => lines.indent + comment + this.newline);
    this.edit({ start: lines.start, end: lines.end, text: comments.join('') });
  }

  /** The comments of some lines, whole ones and those behind a value. */
  commentsIn(lines: { readonly start: number; readonly end: number }): readonly string[] {
    return Array.from(
      this.#text.slice(lines.start, lines.end).matchAll(/(?:^|[ \t])(#[^\r\n]*)/gm),
      (match) => match[1] as string,
    );
  }

  insertLines(offset: number, lines: readonly string[]): void {
    const before = offset > 0 && this.#text[offset - 1] !== '\n' ? this.newline : '';
    this.edit({ start: offset, end: offset, text: before + lines.map((line) => line + this.newline).join('') });
  }
}
