import { Agent, request } from 'node:http';
import type { Readable } from 'node:stream';
import { readWhole } from '../../../base/read-whole.ts';
import type { Duration } from '../../../base/time/clock.ts';
import { retry } from '../../../base/time/retry.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { engineErrors } from '../../errors.ts';
import { rayErrors } from '../errors.ts';
import { type ParsedRefusal, readRefusal } from './prose.ts';

export interface HttpQuestion {
  /** @default GET */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent instead of `body`; called again when the question is repeated. */
  readonly stream?: () => Readable;
  /** Without a byte either way. @default 15 s */
  readonly timeout?: Duration;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Ray's dashboard and the agents of its nodes. By node:http: Ray takes what `fetch` sends for a browser's request, and its
 * older versions need a User-Agent.
 */
export class RayHttp {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });
  readonly #headers: Readonly<Record<string, string>>;

  constructor(token: string | undefined) {
    this.#headers = { 'user-agent': 'manta', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  }

  /** Any answer but a refused token is an answer; no answer is `engineErrors.Unreachable`. */
  async ask(url: string, question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer> {
    const call = `${question.method ?? 'GET'} ${question.path}`;
    const answer = await retry(() => this.#once(url, question, signal), {
      clock: wallClock,
      signal,
      pause: () => 0,
      // The other side may close a kept connection just as it is used again.
      again: (error, tries) => error instanceof StaleConnection && tries < 3,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw engineErrors.Unreachable({ call, detail: (error as Error).message }, error);
    });
    if (answer.status === 401 || answer.status === 403)
      throw rayErrors.NotAllowed({ call, detail: `${answer.status} ${textOf(answer)}` });
    return answer;
  }

  async json(url: string, question: HttpQuestion, signal: AbortSignal): Promise<unknown> {
    const answer = await this.ask(url, question, signal);
    const call = `${question.method ?? 'GET'} ${question.path}`;
    if (answer.status !== 200) throw refused(call, answer);
    try {
      return JSON.parse(answer.body.toString('utf8'));
    } catch (error) {
      throw rayErrors.Refused({ call, detail: 'the response is not JSON' }, error);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #once(url: string, question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const { method = 'GET', path, headers, body, stream, timeout = 15_000 } = question;
    const asked = request(new URL(path, url), {
      method,
      agent: this.#agent,
      headers: {
        ...this.#headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal,
      timeout,
    });
    let answered = false;
    asked.on('response', (answer) => {
      answered = true;
      readWhole(answer).then((bytes) => resolve({ status: answer.statusCode ?? 0, body: bytes }), reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no response within ${timeout / 1000} s`)));
    asked.on('error', (error: NodeJS.ErrnoException) =>
      reject(asked.reusedSocket && !answered && error.code === 'ECONNRESET' ? new StaleConnection() : error),
    );
    if (stream)
      stream()
        .on('error', (error) => asked.destroy(error))
        .pipe(asked);
    else asked.end(body);
    return promise;
  }
}

class StaleConnection extends Error {}

export const refusalOf = ({ status, body }: HttpAnswer): ParsedRefusal => readRefusal(status, body.toString('utf8'));

/** The error for an answer that is not a success. */
export const refused = (call: string, answer: HttpAnswer): Error =>
  rayErrors.Refused({ call, detail: `${answer.status} ${textOf(answer)}`, refusal: refusalOf(answer) });

/** The beginning of an answer that is not a success; Ray's are often whole tracebacks, whose last line says most. */
export function textOf(answer: HttpAnswer): string {
  const text = answer.body.toString('utf8').trim();
  return text.length <= 400 ? text : `… ${text.slice(-400)}`;
}
