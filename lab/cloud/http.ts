import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CloudError, cloudErrors } from './errors.ts';

const longestBody = 1 << 20;

/** What was asked, read. */
export interface Asked {
  readonly method: string;
  /** Parts of the path, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export async function readAsked(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', 'http://cloud');
  let path: string[];
  try {
    path = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    throw cloudErrors.noSuchPath(url.pathname);
  }
  return { method: request.method ?? 'GET', path, query: url.searchParams, body: await readBody(request) };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw cloudErrors.invalid('the body is no JSON');
  }
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > longestBody) throw cloudErrors.invalid(`the body is longer than ${longestBody} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** The first half of an answer: `broken` says how long the whole is and hangs up, `silent` ends as if that was all. */
export function answerCut(response: ServerResponse, type: string, text: string, how: 'broken' | 'silent'): void {
  const half = Buffer.from(text).subarray(0, Math.floor(Buffer.byteLength(text) / 2));
  const length = how === 'broken' ? { 'content-length': Buffer.byteLength(text) } : {};
  response.writeHead(200, { 'content-type': type, ...length });
  if (how === 'silent') response.end(half);
  else response.write(half, () => response.socket?.destroy());
}

export function answerError(response: ServerResponse, { status, code, message, retryAfter, quota }: CloudError): void {
  answer(
    response,
    status,
    { error: { code, message, ...(quota !== undefined && { quota }) } },
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  );
}

/** Compares in the same time, whatever is given. */
export function bearerIs(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
