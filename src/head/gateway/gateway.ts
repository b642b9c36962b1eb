import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { apiErrors } from '../../api/errors.ts';
import type { ErrorAnswer } from '../../api/types.ts';
import type { MantaError } from '../../base/errors.ts';
import { Slots } from '../../base/ssh/slots.ts';
import { errorBody } from '../../jobs/api-answer.ts';
import { type AuthDeps, headOfMessage, judge } from '../../jobs/users/auth.ts';
import type { User } from '../../jobs/users/users.ts';
import { headErrors } from '../errors.ts';
import { isPublicOfRay, needsAdmin } from './access.ts';
import { hasBlanks, passWithBlanks } from './blanks.ts';
import { headersForClient, headersForRay } from './headers.ts';
import type { RequestTarget } from './path.ts';
import type { RayFront } from './ray-front.ts';

export interface GatewayDeps {
  readonly auth: AuthDeps;
  readonly ray: RayFront;
  readonly limits?: Partial<GatewayLimits>;
}

interface GatewayLimits {
  /** Largest body of a request. @default 100 MiB, as Ray has it */
  readonly bodyBytes: number;
  /** Until Ray begins to answer; a profile takes minutes. @default 10 min */
  readonly answerWithin: number;
  /** Requests of one user that are with Ray at once; more of them wait. @default 128 */
  readonly atOnce: number;
  /** Those of all who show no token, for what is open to all; the oldest gives way. @default 64 */
  readonly openAtOnce: number;
}

const usualLimits: GatewayLimits = { bodyBytes: 100 << 20, answerWithin: 600_000, atOnce: 128, openAtOnce: 64 };

/** A page of the dashboard asks for few of them at once. */
const blankedOfUser = 2;

/** One request to Ray's dashboard, judged. */
export interface Passage {
  readonly target: RequestTarget;
  readonly user?: User;
}

/** Ray's dashboard behind mantad's address: anyone who has a token of the cluster comes in, and Ray's own stays here. */
export class Gateway {
  readonly #deps: GatewayDeps;
  readonly #limits: GatewayLimits;
  /** By user: what one of them holds up holds up nobody else. */
  readonly #agents = new Map<string, Agent>();
  readonly #openAgent: Agent;
  /** Answers to those without a token, oldest first. */
  readonly #open = new Set<ServerResponse>();
  /** Such answers are held in memory whole until they are read: so many of each user. */
  readonly #blanked = new Map<string, Slots>();

  constructor(deps: GatewayDeps) {
    this.#deps = { ...deps, auth: { ...deps.auth, isPublic: isPublicOfRay } };
    this.#limits = { ...usualLimits, ...deps.limits };
    this.#openAgent = newAgent(this.#limits.openAtOnce);
  }

  /** Who asks, and whether they may. A refusal is what to answer. */
  admit(request: IncomingMessage, target: RequestTarget): Passage | RefusedPassage {
    const verdict = judge(headOfMessage(request, target.path), this.#deps.auth);
    if ('status' in verdict) {
      const { status, text, error, retryAfter } = verdict;
      return { status, text, code: error.code, ...(retryAfter !== undefined && { retryAfter }) };
    }
    const { user } = verdict;
    const action = `send ${request.method ?? ''} ${target.path.slice(0, 200)} to Ray`;
    if (user && !user.admin && needsAdmin(request.method ?? '', target.path))
      return refusedFor(apiErrors.AdminOnly({ action }), 403);
    return { target, ...(user && { user }) };
  }

  /**
   * Judges the request, sends it to Ray and hands the answer on, both as they come. `client`: who showed a valid token, also
   * where none is needed.
   */
  handle(request: IncomingMessage, response: ServerResponse, target: RequestTarget, client: User | undefined): void {
    const admitted = this.admit(request, target);
    if ('status' in admitted) return refuse(request, response, admitted);
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > this.#limits.bodyBytes) return refuse(request, response, this.#tooLarge());
    const { address } = this.#deps.ray;
    const { user } = admitted;
    const blanks = user?.admin !== true && hasBlanks(target.path);
    if (client === undefined) this.#makeRoom(response);
    const sent = this.ask(request, admitted, client, blanks ? { 'accept-encoding': 'identity' } : {});
    if (user)
      response.once(
        'close',
        this.#deps.auth.users.whileValid(user.name, () => response.destroy()),
      );
    response.once('close', () => sent.destroy());

    const fail = (error: MantaError, status: number): void => {
      if (response.headersSent) response.destroy();
      else refuse(request, response, refusedFor(error, status));
      sent.destroy();
    };
    const noAnswer = (why: string): void => fail(this.noAnswer(new Error(why)), 502);
    // Taken over as a line of its own, which nobody has asked for: nobody would hear its errors either.
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      noAnswer('it switched protocols without a request to do so');
    });
    sent.once('response', (answer) => {
      const { statusCode: status = 502 } = answer;
      if (status < 200) return noAnswer(`unexpected status ${status}`);
      // Told on, it would read as if the client's own token were wrong.
      if (status === 401 || status === 403) return fail(headErrors.GatewayTokenRefused({ address, status }), 502);
      answer.on('error', () => response.destroy());
      if (blanks && request.method === 'GET') {
        const gone = new AbortController();
        const closed = new Promise((resolve) => response.once('close', resolve)).then(() => gone.abort());
        const pass = async (): Promise<void> => {
          await passWithBlanks(answer, response, target.path, noAnswer);
          await closed;
        };
        return void this.#blankedOf(user)
          .use(gone.signal, pass)
          .catch(() => {});
      }
      response.writeHead(status, headersForClient(answer, target.path));
      answer.pipe(response);
    });
    sent.on('error', (error) => {
      if (!response.destroyed) fail(this.noAnswer(error), 502);
    });
    if (!hasBody(request)) return void sent.end();
    let seen = 0;
    request.on('data', (bytes: Buffer) => {
      seen += bytes.length;
      if (seen <= this.#limits.bodyBytes) return;
      request.unpipe(sent);
      refuse(request, response, this.#tooLarge());
      sent.destroy();
    });
    request.pipe(sent);
  }

  /** Opens the request to Ray; the caller sends its body and reads the answer. */
  ask(
    request: IncomingMessage,
    { target, user }: Passage,
    client: User | undefined,
    more: Record<string, string> = {},
  ): ClientRequest {
    const { ray } = this.#deps;
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(ray.address) ?? [];
    const { 'content-length': length } = request.headers;
    const sent = requestHttp({
      host,
      port: Number(port),
      method: request.method ?? 'GET',
      path: `${target.path}${target.query}`,
      agent: this.#agentOf(client),
      headers: {
        ...headersForRay(request.headers, {
          host: ray.address,
          // What is open to all gets no token of anybody's.
          ...(ray.token !== undefined && user && { token: ray.token }),
          masked: user?.admin !== true,
        }),
        ...(length !== undefined && hasBody(request) && { 'content-length': length }),
        connection: 'close',
        ...more,
      },
    });
    const late = setTimeout(
      () => sent.destroy(new Error(`no answer within ${this.#limits.answerWithin / 1_000} s`)),
      this.#limits.answerWithin,
    );
    for (const end of ['response', 'upgrade', 'close'] as const) sent.once(end, () => clearTimeout(late));
    return sent;
  }

  /** For a request that came to nothing; Ray may have moved. */
  noAnswer(error: Error): MantaError {
    const { address } = this.#deps.ray;
    void this.#deps.ray.lookAgain();
    return headErrors.GatewayNoAnswer({ address, why: error.message }, error);
  }

  close(): void {
    for (const agent of [...this.#agents.values(), this.#openAgent]) agent.destroy();
  }

  #agentOf(client: User | undefined): Agent {
    if (client === undefined) return this.#openAgent;
    const agent = this.#agents.get(client.name) ?? newAgent(this.#limits.atOnce);
    this.#agents.set(client.name, agent);
    return agent;
  }

  #blankedOf(user: User | undefined): Slots {
    const name = user?.name ?? '';
    const slots = this.#blanked.get(name) ?? new Slots(blankedOfUser);
    this.#blanked.set(name, slots);
    return slots;
  }

  #makeRoom(response: ServerResponse): void {
    const [oldest] = this.#open;
    if (this.#open.size >= this.#limits.openAtOnce) oldest?.destroy();
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
  }

  #tooLarge(): RefusedPassage {
    return refusedFor(apiErrors.TooLarge({ limit: this.#limits.bodyBytes }), 413);
  }
}

/** A connection for each request: what one client sends can never become part of another's. */
const newAgent = (maxSockets: number): Agent => new Agent({ keepAlive: false, maxSockets });

export interface RefusedPassage {
  readonly status: number;
  readonly text: string;
  readonly code: string;
  /** Seconds after which it may be tried again. */
  readonly retryAfter?: number;
  /** For Manta's own paths. */
  readonly answer?: ErrorAnswer;
}

export const refusedFor = (error: MantaError, status: number): RefusedPassage => ({
  status,
  code: error.code,
  ...((status === 429 || status === 502) && { retryAfter: 1 }),
  text: `${error.message} (${error.code})${error.hint === undefined ? '' : `\n${error.hint}`}`,
  answer: errorBody(error),
});

/** Manta's own paths, as far as one can tell of a target that cannot be read. */
const isOwn = (url: string): boolean => /^(?:\/manta)?\/api\/manta\//i.test(url);

/** In plain text, as Ray's clients show it; on Manta's own paths an error object. */
export function refuse(request: IncomingMessage, response: ServerResponse, refused: RefusedPassage): void {
  if (response.headersSent) return void response.destroy();
  const json = refused.answer !== undefined && isOwn(request.url ?? '');
  const said = json ? JSON.stringify(refused.answer) : refused.text;
  response.writeHead(refused.status, {
    'content-type': json ? 'application/json' : 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(said),
    'manta-error': refused.code,
    ...(refused.retryAfter !== undefined && { 'retry-after': String(refused.retryAfter) }),
    // The rest of a body that nobody reads is on its way still: nothing else can be said on that connection.
    ...(!request.complete && hasBody(request) && { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : said);
}

export const hasBytes = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Of a GET no bytes mean anything, and none go on to Ray. */
export const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const hasBody = (request: IncomingMessage): boolean => hasBytes(request) && !isRead(request);
