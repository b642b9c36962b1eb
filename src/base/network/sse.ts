/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The last id seen so far, as the standard has it; empty before the first. */
  readonly id: string;
}

/**
 * Cuts bytes into server-sent events as the standard (WHATWG HTML, 9.2.6) says: any line ending, comments dropped, an
 * event only at a blank line, what is unfinished at the end of the stream dropped.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #afterReturn = false;
  #data: string[] = [];
  #event = '';
  #id = '';

  /** The events that these bytes complete. */
  take(bytes: Uint8Array): ServerEvent[] {
    const decoded = this.#decoder.decode(bytes, { stream: true });
    if (decoded === '') return [];
    const text = this.#afterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.#afterReturn = decoded.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    // One long line comes in many pieces: it is looked through once, not again with each of them.
    this.#rest += first;
    if (others.length === 0) return [];
    const lines = [this.#rest, ...others];
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(text: string): ServerEvent | undefined {
    if (text === '') return this.#complete();
    const colon = text.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #complete(): ServerEvent | undefined {
    const [event, data] = [this.#event || 'message', this.#data];
    this.#data = [];
    this.#event = '';
    return data.length === 0 ? undefined : { event, data: data.join('\n'), id: this.#id };
  }
}

export async function* readServerEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = new SseReader();
  for await (const part of bytes) yield* reader.take(part);
}
