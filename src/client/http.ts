import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from 'node:http';
import type { AgentOptions } from 'node:https';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { apiErrors } from '../api/errors.ts';
import type { ErrorAnswer } from '../api/types.ts';
import { MantaError } from '../base/errors.ts';
import { retry } from '../base/time/retry.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import { version } from '../base/version.ts';
import { readRefusal } from '../engines/ray/jobs/prose.ts';
import { clientErrors } from './errors.ts';
import type { Endpoint, Target } from './target.ts';

// An `import` of node:http reads each of its exports, one of which loads all of undici: a third of a command's time.
const { Agent: PlainAgent, request: requestHttp } = process.getBuiltinModule('node:http');

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface HttpRequest {
  readonly query?: Query;
  readonly json?: unknown;
  /** With its length: a body of unknown length cannot be checked against a limit. */
  readonly body?: { readonly stream: () => Readable; readonly length: number };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Silence after which the line counts as dead. @default 60 s */
  readonly silence?: number;
  /** Asking twice does no harm, so a line that broke is tried again. @default all but POST */
  readonly repeatable?: boolean;
}

export interface HeadAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
  /** The bytes of the body as they come; throws Broken when the line breaks before the end. */
  pieces(): AsyncGenerator<Buffer>;
}

const mostTries = 4;
const madeAgainIn = 200;

/**
 * Speaks HTTP to one head over one connection that is kept open. Not `fetch`: that one sends headers of a browser, and
 * Ray refuses to change anything for a browser. Redirects are not followed, so a token never travels on.
 */
export class HttpClient {
  readonly target: Target;
  readonly #signal: AbortSignal;
  #agent: HttpAgent | undefined;
  #place: Endpoint | undefined;

  constructor(target: Target, signal: AbortSignal) {
    this.target = target;
    this.#signal = signal;
  }

  /** Where the last request went. */
  get shown(): string {
    return this.target.folder === undefined ? this.target.shown : `${this.target.shown} at ${this.#place?.url ?? '…'}`;
  }

  /** The answer of a request that the head accepted; throws with the head's own words for any other. */
  async send(method: string, path: string, request: HttpRequest = {}): Promise<HeadAnswer> {
    return await this.#accepted(await this.ask(method, path, request), path);
  }

  async #accepted(answer: HeadAnswer, path: string): Promise<HeadAnswer> {
    if (answer.status < 300) return answer;
    const text = await textOf(answer);
    // A head of Manta's names what it does not have; Ray knows nothing of the path.
    if (answer.status === 404 && path.startsWith('/api/manta/') && parsed(text).error === undefined)
      throw clientErrors.NotManta({ address: this.shown, what: path.split('/')[4] ?? path });
    throw refusal(answer.status, text, this.shown, this.#place?.token !== undefined);
  }

  /** As `send`, for a caller that reads refusals itself. */
  async ask(method: string, path: string, request: HttpRequest = {}): Promise<HeadAnswer> {
    return await this.#persistently(method, path, request, async (answer) => answer);
  }

  /** Asks, and reads what `read` wants of the answer; both again where that does no harm. */
  async #persistently<Value>(
    method: string,
    path: string,
    request: HttpRequest,
    read: (answer: HeadAnswer) => Promise<Value>,
  ): Promise<Value> {
    const repeatable = request.repeatable ?? method !== 'POST';
    let broke = false;
    let unreached = false;
    const once = async (): Promise<Value> => {
      const answer = await this.#once(method, path, request);
      if (answer.headers['manta-error'] === apiErrors.Closing.code) throw await this.#ending(answer);
      // The try whose answer was lost has deleted it.
      const isGone = broke && method === 'DELETE' && answer.status === 404;
      return await read(isGone ? { ...answer, status: 200 } : answer);
    };
    return await retry(once, {
      clock: wallClock,
      signal: request.signal ?? this.#signal,
      // A kept line may only have been closed by the other side in the meantime.
      pause: (tries) => madeAgainIn * (unreached ? tries : tries - 1),
      again: (error, tries) => {
        unreached = clientErrors.Unreachable.is(error);
        broke ||= !unreached;
        if (!unreached && !clientErrors.Broken.is(error)) return false;
        this.target.lost?.();
        // Where nobody was reached nothing was sent, and a line that can be lost may be in the middle of being made again.
        return (unreached ? this.target.lost !== undefined : repeatable) && tries < mostTries;
      },
    });
  }

  /** Nothing was done with the request: the next mantad may take it. */
  async #ending(answer: HeadAnswer): Promise<MantaError> {
    await textOf(answer).catch(() => '');
    return clientErrors.Unreachable({ address: this.shown, why: 'mantad is shutting down' });
  }

  /** The status of an answer whose body does not matter; the line is free again afterwards. */
  async statusOf(method: string, path: string, request: HttpRequest = {}): Promise<number> {
    return await this.#persistently(method, path, request, async (answer) => {
      await textOf(answer);
      return answer.status;
    });
  }

  async json<Value>(method: string, path: string, request: HttpRequest = {}): Promise<Value> {
    return await this.#persistently(method, path, request, async (answer) => {
      const text = await textOf(await this.#accepted(answer, path));
      try {
        return JSON.parse(text) as Value;
      } catch (error) {
        const words = 'its response is not JSON';
        throw clientErrors.ServerFault({ address: this.shown, status: answer.status, words }, error);
      }
    });
  }

  /** Headers and options for a line that is not plain HTTP. */
  async upgradeOptions(
    signal: AbortSignal,
  ): Promise<{ url: string; socket?: string; headers: Record<string, string>; tls: AgentOptions }> {
    const place = await this.target.place(signal);
    this.#place = place;
    const { socket } = place;
    return {
      url: place.url,
      ...(socket !== undefined && { socket }),
      headers: this.#headers(place),
      tls: await tlsOptions(this.target.verify),
    };
  }

  close(): void {
    this.#agent?.destroy();
    void this.target.close?.().catch(() => {});
  }

  async #once(method: string, path: string, request: HttpRequest): Promise<HeadAnswer> {
    const signal = request.signal ?? this.#signal;
    signal.throwIfAborted();
    const place = await this.target.place(signal);
    this.#place = place;
    const secure = place.url.startsWith('https:');
    const make = secure ? process.getBuiltinModule('node:https').request : requestHttp;
    this.#agent ??= await this.#newAgent(secure);
    const text = request.json === undefined ? undefined : Buffer.from(JSON.stringify(request.json));
    const length = text?.length ?? request.body?.length;
    const sent = make(`${place.url}${path}${queryText(request.query)}`, {
      method,
      agent: this.#agent,
      signal,
      ...(place.socket !== undefined && { socketPath: place.socket }),
      headers: {
        ...this.#headers(place),
        ...(text && { 'content-type': 'application/json' }),
        ...(length !== undefined && { 'content-length': String(length) }),
        ...request.headers,
      },
    });
    return await answerOf(sent, request, text, this.shown, signal);
  }

  #headers(place: Endpoint): Record<string, string> {
    const own = this.target.headers;
    const named = (name: string): boolean => Object.keys(own).some((each) => each.toLowerCase() === name);
    return {
      'user-agent': `manta/${version}`,
      accept: '*/*',
      ...(place.token !== undefined && !named('authorization') && { authorization: `Bearer ${place.token}` }),
      ...own,
    };
  }

  async #newAgent(secure: boolean): Promise<HttpAgent> {
    const options = { keepAlive: true, noDelay: true };
    if (!secure) return new PlainAgent(options);
    const { Agent } = process.getBuiltinModule('node:https');
    return new Agent({ ...options, ...(await tlsOptions(this.target.verify)) });
  }
}

/** A client of the server at a known place. */
export const clientAt = (place: Endpoint, signal: AbortSignal, shown: string = place.url): HttpClient =>
  new HttpClient({ shown, headers: {}, verify: 'true', place: async () => place }, signal);

/** Sends what there is to send and waits for the head of the answer. */
function answerOf(
  sent: ClientRequest,
  request: HttpRequest,
  text: Buffer | undefined,
  shown: string,
  signal: AbortSignal,
): Promise<HeadAnswer> {
  const silence = request.silence ?? 60_000;
  return new Promise((resolve, reject) => {
    // From here on the request may have been read, whether the line brings an answer or not.
    let reached = false;
    const fail = (error: Error): void => {
      if (signal.aborted) reject(signal.reason as Error);
      else reject(failureOf(error, shown, reached || sent.reusedSocket));
    };
    sent.on('error', fail);
    sent.setTimeout(silence, () => sent.destroy(new Error(`no data for ${Math.round(silence / 1_000)} s`)));
    sent.once('socket', (socket) => {
      if (!socket.connecting) reached = true;
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (reached = true));
    });
    sent.on('response', (body) => {
      // A head may refuse a body before it has read all of it.
      resolve({
        status: body.statusCode ?? 0,
        headers: body.headers,
        body,
        pieces: () => piecesOf(body, shown, signal),
      });
    });
    if (request.body === undefined) sent.end(text);
    else {
      const stream = request.body.stream();
      stream.on('error', (error) => sent.destroy(error));
      sent.on('close', () => stream.destroy());
      stream.pipe(sent);
    }
  });
}

/** A line that could not be opened, or one that broke. */
export function failureOf(error: Error, address: string, broken: boolean): MantaError {
  const { code } = error as NodeJS.ErrnoException;
  const why = whyWords(code, error);
  // The codes of Node's parser of HTTP.
  const notHttp = code?.startsWith('HPE_') === true;
  return broken || code === 'ECONNRESET' || code === 'EPIPE'
    ? clientErrors.Broken({ address, why, notHttp }, error)
    : clientErrors.Unreachable({ address, why, notHttp }, error);
}

function whyWords(code: string | undefined, error: Error): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused (ECONNREFUSED)';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `host name not found (${code})`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `host unreachable (${code})`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `connection reset (${code})`;
    default:
      return error.message || code || 'unknown';
  }
}

async function textOf(answer: HeadAnswer): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer.pieces()) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

async function* piecesOf(body: IncomingMessage, address: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const part of body) yield part as Buffer;
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error as Error, address, true);
  }
}

/** An answer from 300 on, as the error that it is. */
export function refusal(status: number, text: string, address: string, sentToken: boolean): MantaError {
  const { error } = parsed(text);
  const { kind, words } = error === undefined ? readRefusal(status, text) : { kind: undefined, words: error.message };
  if (status === 401 || (status === 403 && (error === undefined || error.code === apiErrors.Denied.code)))
    return clientErrors.Unauthenticated({ address, sent: sentToken, words });
  if (error === undefined)
    return status < 500 || kind === 'invalid' || kind === 'declined' || kind === 'exists'
      ? clientErrors.Refused({ status, words, ...(kind === 'exists' && { exists: true }) })
      : clientErrors.ServerFault({ address, status, words });
  // The head's own code: it stands in docs/errors.md like any other.
  const exit = status === 400 ? 2 : status === 403 || status === 405 ? 4 : status >= 500 ? 6 : 1;
  return new MantaError({ code: error.code, exit, message: () => error.message, hint: () => error.hint }, { status });
}

function parsed(text: string): Partial<ErrorAnswer> {
  try {
    const value = JSON.parse(text) as Partial<ErrorAnswer>;
    return typeof value?.error?.message === 'string' && typeof value.error.code === 'string' ? value : {};
  } catch {
    return {};
  }
}

function queryText(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

/** What `--verify` means for a connection. */
async function tlsOptions(verify: string): Promise<AgentOptions> {
  if (/^(?:true|1|yes)$/i.test(verify)) return {};
  if (/^(?:false|0|no)$/i.test(verify)) return { rejectUnauthorized: false };
  const { readdir, readFile, stat } = await import('node:fs/promises');
  try {
    const isFolder = (await stat(verify)).isDirectory();
    const files = isFolder ? (await readdir(verify)).map((name) => join(verify, name)) : [verify];
    return { ca: await Promise.all(files.map((file) => readFile(file))) };
  } catch (error) {
    throw clientErrors.BadCertificates({ path: verify, problem: (error as Error).message }, error);
  }
}
