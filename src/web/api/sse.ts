/** One server-sent event. */
export interface Message {
  readonly event: string;
  readonly data: string;
  /** The last id seen so far, as the standard has it. */
  readonly id: string;
}

/**
 * Cuts a stream of text into server-sent events as the standard (WHATWG HTML, 9.2.6) says: any line ending, comments
 * dropped, an event only at a blank line, what is unfinished at the end of the stream dropped.
 */
export function createSseParser(onMessage: (message: Message) => void, onRetry?: (ms: number) => void) {
  let rest = '';
  let data: string[] = [];
  let event = '';
  let id = '';
  let afterReturn = false;

  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) onMessage({ event: event === '' ? 'message' : event, data: data.join('\n'), id });
      data = [];
      event = '';
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const raw = colon < 0 ? '' : text.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry?.(Number(value));
  };

  return {
    push(chunk: string): void {
      if (chunk === '') return;
      const text = afterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
      afterReturn = text.endsWith('\r');
      const lines = (rest + text).split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      for (const each of lines) line(each);
    },
  };
}
