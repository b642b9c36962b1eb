import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CloudError, cloudErrors } from './errors.ts';

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
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > longestBody) throw cloudErrors.invalid(`the body is longer than ${longestBody} bytes`);
    chunks.push(chunk as Buffer);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    throw cloudErrors.invalid('the body is no JSON');
  }
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

/** An error that is none of the cloud's own is a bug of it, and shown as the trouble of the cloud that it is. */
export function asCloudError(error: unknown): CloudError {
  return error instanceof CloudError ? error : cloudErrors.internal((error as Error).message);
}

export function answerError(response: ServerResponse, { status, code, message, retryAfter }: CloudError): void {
  answer(
    response,
    status,
    { error: { code, message } },
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  );
}

/** Compares in the same time, whatever is given. */
export function bearerIs(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
