import { TextDecoder } from 'node:util';
import type { LogChunk } from '../../../src/api/types.ts';

/** The output of one attempt, addressed by byte offset. */
export class FakeLog {
  #bytes = Buffer.alloc(0);
  #listeners = new Set<() => void>();
  ended = false;

  get size(): number {
    return this.#bytes.length;
  }

  append(text: string | Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)]);
    this.#wake();
  }

  end(): void {
    this.ended = true;
    this.#wake();
  }

  read(offset: number, limit = this.size): Buffer {
    return this.#bytes.subarray(offset, offset + limit);
  }

  /** Offset at which the last `lines` lines begin. */
  tail(lines: number): number {
    let at = this.size;
    if (this.#bytes[at - 1] === 10) at -= 1;
    for (let found = 0; found < lines; found += 1) {
      const line = at <= 0 ? -1 : this.#bytes.lastIndexOf(10, at - 1);
      if (line < 0) return 0;
      at = line;
    }
    return at + 1;
  }

  chunk(offset: number): LogChunk {
    const bytes = this.read(offset, 64 * 1024);
    const next = offset + bytes.length;
    try {
      return { offset, next, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
    } catch {
      return { offset, next, bytes: bytes.toString('base64') };
    }
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
