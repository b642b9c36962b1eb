import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { WebSocket } from 'ws';
import { type MantaError, messageOf } from '../errors.ts';
import { readOutsideJson } from '../outside-json.ts';
import { readWhole } from '../read-whole.ts';
import type { Clock, Duration } from '../time/clock.ts';
import { doubling, retry } from '../time/retry.ts';
import { version } from '../version.ts';
import type { KubeAccess } from './config.ts';
import { kubeErrors } from './errors.ts';
import { refusalOf } from './refusals.ts';
import { openSocket } from './socket.ts';

export interface KubeCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  /** @default application/json */
  readonly contentType?: string;
  /** For what is behind the API server, which keeps `authorization` to itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What it does, for messages: `list pods in the namespace 'default'`. */
  readonly call: string;
  readonly signal: AbortSignal;
}

/** An answer has to begin within this time, and one that is read whole has to go on; what streams may pause as long as it likes. */
const usualPatience: Duration = 30_000;

/** Of an error only the beginning is shown. */
const largestError = 1 << 20;

/** How often a call is made that the server was too busy for. */
const tries = 5;

const usualPause = doubling(200);
const longestPause: Duration = 10_000;

/**
 * The client of one API server. Every call throws the errors of `errors.ts`. What the server was too busy for (429) is
 * asked again, as it says; so is what only reads, after a server error or a lost connection.
 */
export class KubeClient {
  readonly access: KubeAccess;
  readonly #clock: Clock;
  readonly #patience: Duration;
  #agent: Agent | undefined;

  constructor(access: KubeAccess, clock: Clock, patience = usualPatience) {
    this.access = access;
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Makes a call and reads its JSON answer. */
  async json(call: KubeCall): Promise<unknown> {
    const response = await this.stream(call);
    try {
      return readOutsideJson((await this.#whole(response)).toString('utf8'));
    } catch (error) {
      call.signal.throwIfAborted();
      throw kubeErrors.Failed({ call: call.call, detail: messageOf(error), status: response.statusCode ?? 0 }, error);
    }
  }

  /** Makes a call and reads its answer as text, of which there is no more than `most` bytes. */
  async text(call: KubeCall, most: number): Promise<string> {
    return (await this.#whole(await this.stream(call), most)).toString('utf8');
  }

  /** Makes a call and hands its answer over as it comes. */
  async stream(call: KubeCall): Promise<IncomingMessage> {
    let wait = -1;
    const reads = (call.method ?? 'GET') === 'GET';
    return await retry(
      async () => {
        wait = -1;
        const response = await this.#send(call);
        const status = response.statusCode ?? 0;
        if (status < 300) return response;
        const said = await this.#whole(response, largestError).catch(messageOf);
        wait = status === 429 || (reads && status >= 500) ? pauseOf(response.headers['retry-after']) : -1;
        throw refusalOf(status, said.toString(), call.call, this.access);
      },
      {
        clock: this.#clock,
        signal: call.signal,
        pause: (tried) => Math.min(longestPause, Math.max(wait, usualPause(tried))),
        again: (error, tried) =>
          tried < tries && (wait >= 0 || (reads && kubeErrors.Unreachable.is(error) && tried < 2)),
      },
    );
  }

  async #whole(response: IncomingMessage, most?: number): Promise<Buffer> {
    const patience = this.#patience;
    response.setTimeout(patience, () => response.destroy(new Error(`no data for ${patience / 1_000} s`)));
    return await readWhole(response, most);
  }

  /** Ends idle connections. */
  close(): void {
    this.#agent?.destroy();
  }

  /**
   * Opens a WebSocket, which the caller owns and resumes: from then on it reports by events alone. The server picks one of the
   * protocols. Nothing has been asked of a pod before it is open, so a busy server is asked again.
   */
  async upgrade(call: Omit<KubeCall, 'method' | 'body'>, protocols: readonly string[]): Promise<WebSocket> {
    let isBusy = false;
    return await retry(
      async () => {
        const login = await this.#login();
        const url = this.#url(call).href.replace(/^http/, 'ws');
        const opened = await openSocket(url, protocols, login, call.signal).catch((error: unknown) => {
          call.signal.throwIfAborted();
          throw connectionError(error, this.access.server);
        });
        if (!('status' in opened)) return opened;
        isBusy = opened.status === 429;
        throw refusalOf(opened.status, opened.body, call.call, this.access);
      },
      {
        clock: this.#clock,
        signal: call.signal,
        pause: doubling(500, 5_000),
        again: (_, tried) => isBusy && tried < tries,
      },
    );
  }

  #url({ path, query }: Pick<KubeCall, 'path' | 'query'>): URL {
    const url = new URL(`${this.access.server}${path}`);
    for (const [name, value] of Object.entries(query ?? {}))
      for (const each of Array.isArray(value) ? (value as readonly string[]) : [value])
        if (each !== undefined) url.searchParams.append(name, String(each));
    return url;
  }

  async #login(): Promise<RequestOptions> {
    const login = await this.access.options();
    this.#keep(login);
    return login;
  }

  async #send(call: KubeCall): Promise<IncomingMessage> {
    const { server } = this.access;
    const url = this.#url(call);
    const login = await this.#login();
    const body = bytesOf(call.body);
    const headers = {
      accept: 'application/json',
      ...call.headers,
      ...login.headers,
      'user-agent': `manta/${version}`,
      ...(body !== undefined && {
        'content-type': call.contentType ?? 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    };
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    const request = send(url, { ...login, method: call.method ?? 'GET', headers, signal: call.signal });
    request.end(body);
    try {
      return await answered(request, this.#patience);
    } catch (error) {
      call.signal.throwIfAborted();
      throw connectionError(error, server);
    }
  }

  /** Connections are kept for the next call: a handshake costs more than most answers. */
  #keep(login: RequestOptions): void {
    if (!(login.agent instanceof Agent) || this.#agent === login.agent) return;
    this.#agent = login.agent;
    (this.#agent as { keepAlive?: boolean }).keepAlive = true;
  }
}

function bytesOf(body: unknown): string | Uint8Array | undefined {
  return body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function answered(request: ClientRequest, patience: Duration): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.setTimeout(patience, () => request.destroy(new Error(`no answer within ${patience / 1_000} s`)));
    request.once('error', reject);
    request.once('response', (response) => {
      request.setTimeout(0);
      resolve(response);
    });
  });
}

/** What `Retry-After` asks for, in seconds; whatever stands before an API server may name a date instead. */
function pauseOf(asked: string | undefined): Duration {
  const seconds = Number(asked ?? 1);
  return Number.isFinite(seconds) ? Math.max(0, 1_000 * seconds) : 1_000;
}

/** By the code of the failure: those of TLS are about trust, all others about the way there. */
function connectionError(error: unknown, server: string): MantaError {
  const { code = '' } = error as NodeJS.ErrnoException;
  const isTrust = /CERT|SIGNATURE|ALTNAME|ISSUER|SSL/.test(code);
  const kind = isTrust ? kubeErrors.Untrusted : kubeErrors.Unreachable;
  return kind({ server, detail: messageOf(error) || code }, error);
}
