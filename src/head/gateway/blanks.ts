import type { IncomingMessage, ServerResponse } from 'node:http';
import { headersForClient } from './headers.ts';

/** Answers in which what a job was given or has said stands among things that everybody may see. */
const mixed = /^\/(?:nodes\/[^/]+|logical\/actors(?:\/[^/]+)?|api\/v0\/(?:actors|tasks|workers))$/;

/** Exceptions with their messages, and runtime environments, as Ray's state API and its page call them. */
const ofJobs = new Set([
  'deathcause',
  'errormessage',
  'exitdetail',
  'profilingdata',
  'runtimeenv',
  'runtimeenvinfo',
  'serializedruntimeenv',
]);

/** Above what Ray gives: ten thousand tasks with their details are some ten. */
const largestAnswer = 16 << 20;

export const hasBlanks = (path: string): boolean => mixed.test(path);

/** Ray's answer as somebody gets it who may not see what jobs of others were given or have said. */
export function withBlanks(text: string): string {
  return JSON.stringify(JSON.parse(text, (key, value: unknown) => (ofJobs.has(plainly(key)) ? null : value)));
}

/** The state API and the page write the same word in two ways. */
const plainly = (key: string): string => key.replaceAll('_', '').toLowerCase();

/** Hands such an answer on when all of it is there; `fail` hears why it cannot be. Resolves when it is over. */
export async function passWithBlanks(
  answer: IncomingMessage,
  response: ServerResponse,
  path: string,
  fail: (why: string) => void,
): Promise<void> {
  if (answer.destroyed) return;
  const closed = new Promise<void>((resolve) => answer.once('close', resolve));
  const pieces: Buffer[] = [];
  let size = 0;
  answer.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= largestAnswer) pieces.push(piece);
    else fail('its response is too large');
  });
  answer.on('end', () => {
    if (size > largestAnswer) return;
    let text: string;
    try {
      text = withBlanks(Buffer.concat(pieces).toString());
    } catch {
      return fail('its response cannot be read');
    }
    // Of the bytes that came, not of these.
    const { 'content-length': _, etag: __, ...headers } = headersForClient(answer, path);
    response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
  });
  await closed;
}
