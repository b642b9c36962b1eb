/** Passes bytes on until a mark comes, wherever its pieces are cut. What follows the mark is kept in `after`. */
export class StreamMark {
  readonly #mark: Buffer;
  readonly #onBytes: (bytes: Buffer) => void;
  #held: Buffer = Buffer.alloc(0);
  #after: Buffer[] | undefined;

  constructor(mark: string, onBytes: (bytes: Buffer) => void) {
    this.#mark = Buffer.from(mark);
    this.#onBytes = onBytes;
  }

  /** The bytes behind the mark so far; undefined until it has come. */
  get after(): Buffer | undefined {
    return this.#after && Buffer.concat(this.#after);
  }

  push(piece: Buffer): void {
    if (this.#after) {
      this.#after.push(piece);
      return;
    }
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, piece]) : piece;
    const at = bytes.indexOf(this.#mark);
    if (at >= 0) {
      this.#pass(bytes.subarray(0, at));
      this.#held = Buffer.alloc(0);
      this.#after = [bytes.subarray(at + this.#mark.length)];
      return;
    }
    const kept = this.#beginningAtEnd(bytes);
    this.#pass(bytes.subarray(0, bytes.length - kept));
    this.#held = bytes.subarray(bytes.length - kept);
  }

  /** No more comes: what was held back as a possible beginning of the mark is passed on. */
  end(): void {
    this.#pass(this.#held);
    this.#held = Buffer.alloc(0);
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0) this.#onBytes(bytes);
  }

  #beginningAtEnd(bytes: Buffer): number {
    for (let length = Math.min(this.#mark.length - 1, bytes.length); length > 0; length--)
      if (bytes.subarray(bytes.length - length).equals(this.#mark.subarray(0, length))) return length;
    return 0;
  }
}
