import type { HonoRequest, MiddlewareHandler } from 'hono';
import { type JobsEnv, serverLimits } from './auth.ts';

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
    if (this.#waiting.has(user) || (this.#taken.get(user) ?? 0) + wanted > this.#most) {
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
const pieceBytes = 64 << 10;

/**
 * Lets only so many bodies of one user be read and taken apart at once, because JSON is much larger in memory than on the
 * wire, and only so much output be held for readers that do not read. Packages, which go straight to the disk, are passed
 * by. Stands behind the guard, which says who asks.
 */
export function shareMemory(): MiddlewareHandler<JobsEnv> {
  const bodies = new Shares(bodiesOfUser);
  const outputs = new Shares(outputsOfUser);
  return async (c, next) => {
    const user = c.get('user') as JobsEnv['Variables']['user'] | undefined;
    const { method, path } = c.req;
    if (!user || path.startsWith('/api/packages/')) return next();
    if (method === 'GET' || method === 'HEAD') {
      if (!/^\/api\/manta\/v1\/jobs\/[^/]+\/logs$/.test(path)) return next();
      const release = await outputs.take(user.name, 1);
      await next().catch((error: unknown) => {
        release();
        throw error;
      });
      c.res = new Response(releasing(c.res.body, release), c.res);
      return;
    }
    const release = await bodies.take(user.name, Math.max(leastBody, bodySize(c.req)));
    try {
      await next();
    } finally {
      release();
    }
  };
}

function bodySize(request: HonoRequest): number {
  const length = request.header('content-length');
  if (length === undefined) return request.header('transfer-encoding') === undefined ? 0 : serverLimits.bodyBytes;
  return Math.min(Number(length), serverLimits.bodyBytes);
}

/** The same bytes; gives back once they are read, or nobody wants them any more. */
function releasing(body: ReadableStream<Uint8Array> | null, release: () => void): ReadableStream<Uint8Array> | null {
  const reader = body?.getReader();
  if (!reader) {
    release();
    return null;
  }
  let rest: Uint8Array = new Uint8Array();
  return new ReadableStream({
    async pull(controller) {
      if (rest.length === 0) {
        const { value, done } = await reader.read();
        if (done) {
          release();
          return controller.close();
        }
        rest = value;
      }
      // In small pieces: what the line has taken as a whole would count as read.
      controller.enqueue(rest.subarray(0, pieceBytes));
      rest = rest.subarray(pieceBytes);
    },
    async cancel(reason) {
      release();
      await reader.cancel(reason);
    },
  });
}
