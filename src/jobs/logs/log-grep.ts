import { type LogPiece, readLog } from '../../base/files/log-segments.ts';

/** What one answer may cost; what lies beyond is found by asking again from `next` on. */
export interface GrepLimits {
  /** Bytes of lines that were found. One line alone may be longer. */
  readonly bytes: number;
  /** @default 100,000 */
  readonly lines?: number;
  /** Bytes looked through. @default 32 MiB */
  readonly scanned?: number;
}

const pieceBytes = 256 << 10;
/** What goes on for longer without a newline is cut here and counts as a line. */
const longestLine = 1 << 20;

/**
 * Lines that contain `text`, from an offset on; `next` says where to go on. Holds a piece of the log and what was found,
 * however short the lines are.
 */
export async function grepLog(dir: string, text: string, from: number, limits: GrepLimits): Promise<LogPiece> {
  const found = new FoundLines(Buffer.from(text), limits.bytes, limits.lines ?? 100_000);
  const scanned = limits.scanned ?? 32 << 20;
  let rest: Buffer = Buffer.alloc(0);
  let begin = from;
  for (;;) {
    const piece = await readLog(dir, begin + rest.length, pieceBytes);
    const nothing = piece.bytes.length === 0;
    const gap = piece.offset > begin + rest.length;
    // A line that the log or a gap ends is whole.
    if (nothing || gap) {
      const taken = found.take(rest, rest.length);
      if (taken < rest.length) return found.piece(from, begin + taken);
      if (nothing) return found.piece(from, piece.next);
      rest = piece.bytes;
      begin = piece.offset;
    } else rest = Buffer.concat([rest, piece.bytes]);
    const whole = rest.lastIndexOf(10) + 1 || (rest.length > longestLine ? rest.length : 0);
    const taken = found.take(rest, whole);
    begin += taken;
    rest = rest.subarray(taken);
    if (taken < whole || begin - from >= scanned) return found.piece(from, begin);
  }
}

/** Lines that were found, as few buffers: one line may be a single byte. */
class FoundLines {
  readonly #needle: Buffer;
  readonly #mostBytes: number;
  readonly #mostLines: number;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #lines = 0;

  constructor(needle: Buffer, mostBytes: number, mostLines: number) {
    this.#needle = needle;
    this.#mostBytes = mostBytes;
    this.#mostLines = mostLines;
  }

  piece(offset: number, next: number): LogPiece {
    return { offset, bytes: Buffer.concat(this.#parts), next };
  }

  /** Looks through the whole lines before `end`; returns how far it came, which is less once there is no room for more. */
  take(bytes: Buffer, end: number): number {
    const part = Buffer.allocUnsafe(end);
    let filled = 0;
    let at = 0;
    while (at < end) {
      const hit = bytes.indexOf(this.#needle, at);
      if (hit < 0 || hit >= end) {
        at = end;
        break;
      }
      const start = hit === 0 ? 0 : bytes.lastIndexOf(10, hit - 1) + 1;
      const newline = bytes.indexOf(10, hit);
      const stop = newline < 0 ? end : newline + 1;
      const length = stop - start;
      // What reaches into the next line was asked for with a newline in it.
      if (hit + this.#needle.length <= stop) {
        const full = this.#lines >= this.#mostLines || this.#bytes + filled + length > this.#mostBytes;
        if (full && this.#lines > 0) {
          at = start;
          break;
        }
        filled += bytes.copy(part, filled, start, stop);
        this.#lines += 1;
      }
      at = stop;
    }
    if (filled > 0) this.#parts.push(Buffer.from(part.subarray(0, filled)));
    this.#bytes += filled;
    return at;
  }
}
