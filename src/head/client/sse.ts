import { StringDecoder } from 'node:string_decoder';

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/**
 * Cuts bytes into server-sent events: an event counts at its blank line only, so one that a broken line cut off is not
 * there. Comments are dropped. Only LF and CRLF end a line, which is all that a head sends.
 */
export async function* readServerEvents(bytes: AsyncIterable<Buffer>): AsyncGenerator<ServerEvent> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let fields: { event?: string; data: string[]; id?: string } = { data: [] };
  for await (const part of bytes) {
    rest += decoder.write(part);
    let begin = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', begin)) {
      const line = rest.slice(begin, rest[end - 1] === '\r' ? end - 1 : end);
      begin = end + 1;
      if (line !== '') {
        take(line, fields);
        continue;
      }
      if (fields.data.length > 0) {
        const { event = 'message', data, id } = fields;
        yield { event, data: data.join('\n'), ...(id !== undefined && { id }) };
      }
      fields = { data: [] };
    }
    rest = rest.slice(begin);
  }
}

function take(line: string, fields: { event?: string; data: string[]; id?: string }): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
  if (name === 'data') fields.data.push(value);
  else if (name === 'event' || name === 'id') fields[name] = value;
}
