/** A line longer than this is shown in pieces. */
const longestLine = 4000;

export interface LogOptions {
  /** Lines kept; the oldest go first. @default 100000 */
  readonly keep?: number;
}

/**
 * The part of a log that the page holds: consecutive lines, with the byte offset of the first one. Text comes in pieces
 * that may end inside a line; a carriage return starts the line over, as on a terminal.
 */
export class LogLines {
  readonly #keep: number;
  #lines: string[] = [];
  /** Length of the last line when it is unfinished. */
  #open = false;
  /** Offset of the first byte held, and where among the lines pieces began at the start of a line. */
  #first = 0;
  #starts: { line: number; offset: number }[] = [];
  /** Lines dropped from the front so far: the number of a line stays its own. */
  #dropped = 0;
  #widest = 0;

  constructor(options: LogOptions = {}) {
    this.#keep = options.keep ?? 100_000;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Byte offset of the first line held; 0 when the log is held from its start. */
  get firstOffset(): number {
    return this.#first;
  }

  /** Characters of the widest line seen. */
  get widest(): number {
    return this.#widest;
  }

  line(index: number): string {
    return this.#lines[index] ?? '';
  }

  /** Starts over with nothing held from `offset`. */
  clear(offset: number): void {
    this.#lines = [];
    this.#open = false;
    this.#first = offset;
    this.#starts = [];
    this.#dropped = 0;
    this.#widest = 0;
  }

  /** Adds text that stands at `offset`. Returns how many lines were dropped from the front. */
  append(text: string, offset: number): number {
    if (text === '') return 0;
    if (!this.#open) this.#starts.push({ line: this.#dropped + this.#lines.length, offset });
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    const continued = this.#open;
    for (const [index, part] of parts.entries()) {
      this.#put(part);
      this.#open = false;
      if (index === 0 && continued) this.#startBehind(part, offset);
    }
    if (last !== '') {
      this.#put(last);
      this.#open = true;
    }
    return this.#trim();
  }

  /** A piece that began in the middle of a line: the line behind that one is a place to cut at, unless bytes were lost. */
  #startBehind(part: string, offset: number): void {
    if (part.includes('\uFFFD')) return;
    const bytes = new TextEncoder().encode(part).length + 1;
    this.#starts.push({ line: this.#dropped + this.#lines.length, offset: offset + bytes });
  }

  /** Adds text in front; it must end where the held part begins. A first line without its start is left out by the caller. */
  prepend(text: string, offset: number): number {
    const lines = splitLines(text);
    this.#lines = [...lines, ...this.#lines];
    this.#starts = [
      { line: 0, offset },
      ...this.#starts.map((start) => ({ ...start, line: start.line - this.#dropped + lines.length })),
    ];
    this.#dropped = 0;
    this.#first = offset;
    for (const line of lines) this.#widest = Math.max(this.#widest, line.length);
    return lines.length;
  }

  #put(part: string): void {
    const index = this.#lines.length - 1;
    const text = this.#open ? overwrite((this.#lines[index] ?? '') + part) : overwrite(part);
    if (this.#open) this.#lines.pop();
    for (const piece of pieces(text)) {
      this.#lines.push(piece);
      this.#widest = Math.max(this.#widest, piece.length);
    }
  }

  #trim(): number {
    if (this.#lines.length <= this.#keep) return 0;
    const target = this.#dropped + this.#lines.length - this.#keep;
    const index = this.#starts.findLastIndex((start) => start.line <= target);
    const start = this.#starts[index];
    if (start === undefined || start.line === this.#dropped) return 0;
    const gone = start.line - this.#dropped;
    this.#lines = this.#lines.slice(gone);
    this.#dropped = start.line;
    this.#first = start.offset;
    this.#starts = this.#starts.slice(index);
    return gone;
  }
}

function splitLines(text: string): string[] {
  const parts = text.split('\n');
  if (parts.at(-1) === '') parts.pop();
  return parts.flatMap((part) => pieces(overwrite(part)));
}

/** What a terminal would show of a line with carriage returns in it. */
function overwrite(line: string): string {
  if (!line.includes('\r')) return line;
  const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
  const start = trimmed.lastIndexOf('\r') + 1;
  return line.endsWith('\r') ? `${trimmed.slice(start)}\r` : trimmed.slice(start);
}

function pieces(line: string): string[] {
  if (line.length <= longestLine) return [line];
  const result: string[] = [];
  for (let at = 0; at < line.length; at += longestLine) result.push(line.slice(at, at + longestLine));
  return result;
}
