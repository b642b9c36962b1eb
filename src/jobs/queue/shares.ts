import type { ServerResponse } from 'node:http';
import type { HonoRequest, MiddlewareHandler } from 'hono';
import { apiErrors } from '../../api/errors.ts';
import { errorAnswer } from '../api-answer.ts';
import { type JobsEnv, serverLimits } from '../users/auth.ts';

/** So much of something for each user at once; who wants more waits until others of the same user are done. */
export class Shares {
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, { readonly amount: number; readonly go: () => void }[]>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when it is the user's turn, with what gives the amount back. */
  async take(user: string, amount: number): Promise<() => void> {
    const wanted = Math.min(amount, this.#most);
    if (!this.hasRoom(user, wanted)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = this.#waiting.get(user) ?? [];
      waiting.push({ amount: wanted, go: resolve });
      this.#waiting.set(user, waiting);
      await promise;
    } else this.#add(user, wanted);
    return () => {
      this.#add(user, -wanted);
      this.#letGo(user);
    };
  }

  /** Whether so much can be taken without waiting. */
  hasRoom(user: string, amount: number): boolean {
    return !this.#waiting.has(user) && (this.#taken.get(user) ?? 0) + amount <= this.#most;
  }

  #add(user: string, amount: number): void {
    const now = (this.#taken.get(user) ?? 0) + amount;
    if (now > 0) this.#taken.set(user, now);
    else this.#taken.delete(user);
  }

  #letGo(user: string): void {
    const waiting = this.#waiting.get(user);
    if (!waiting) return;
    while (waiting[0] && (this.#taken.get(user) ?? 0) + waiting[0].amount <= this.#most) {
      const next = waiting.shift();
      if (!next) break;
      this.#add(user, next.amount);
      next.go();
    }
    if (waiting.length === 0) this.#waiting.delete(user);
  }
}

/** Of the bodies of one user that are read into memory at once. */
const bodiesOfUser = 2 * serverLimits.bodyBytes;
/** Also a request without a body takes something. */
const leastBody = 4 << 10;
/** Answers with output that one user has not read to the end, each of at most 8 MiB. */
const outputsOfUser = 4;
/** Other answers, each of some megabytes at most: a job's whole record, a page of rows. */
const answersOfUser = 32;
/** Streams and follows of one user that are open at once. A page has one or two, a command one. */
const streamsOfUser = 64;
const followsOfUser = 256;

const outputPath = /^\/api\/manta\/v1\/jobs\/[^/]+\/logs$/;
const followPath = /^\/api\/manta\/v1\/jobs\/[^/]+\/logs\/follow$/;

/**
 * Lets only so many bodies of one user be read and taken apart at once, because JSON is much larger in memory than on the
 * wire, and only so many answers be held for readers that do not read. Who asks for more waits; who asks for more streams,
 * which may never end, is refused. Packages, which go straight to the disk, are passed by. Stands behind the guard, which
 * says who asks.
 */
export function shareMemory(): MiddlewareHandler<JobsEnv> {
  const bodies = new Shares(bodiesOfUser);
  const outputs = new Shares(outputsOfUser);
  const answers = new Shares(answersOfUser);
  const streams = new Shares(streamsOfUser);
  const follows = new Shares(followsOfUser);
  return async (c, next) => {
    const user = c.get('user') as JobsEnv['Variables']['user'] | undefined;
    const { method, path } = c.req;
    if (!user || path.startsWith('/api/packages/')) return next();
    if (method !== 'GET' && method !== 'HEAD') {
      const release = await bodies.take(user.name, Math.max(leastBody, bodySize(c.req)));
      return next().finally(release);
    }
    const open = path === '/api/manta/v1/stream' ? streams : followPath.test(path) ? follows : undefined;
    if (open && !open.hasRoom(user.name, 1)) {
      c.header('retry-after', '5');
      return errorAnswer(c, apiErrors.TooManyStreams({}), 429);
    }
    const release = await (open ?? (outputPath.test(path) ? outputs : answers)).take(user.name, 1);
    const { outgoing } = (c.env ?? {}) as { outgoing?: ServerResponse };
    await next().finally(() => {
      // Closed once the system has taken all of the answer for the client, or the client is gone.
      if (!outgoing || outgoing.closed || outgoing.req.socket.destroyed) release();
      else outgoing.once('close', release);
    });
  };
}

function bodySize(request: HonoRequest): number {
  const length = request.header('content-length');
  if (length === undefined) return request.header('transfer-encoding') === undefined ? 0 : serverLimits.bodyBytes;
  return Math.min(Number(length), serverLimits.bodyBytes);
}
