import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export interface ClientLimits {
  /** Connections at once, at each address. @default 4096 */
  readonly connections: number;
  /** Of them those of clients who have shown no valid token; the oldest gives way to a new one. @default 256 */
  readonly strangers: number;
  /** Connections of one user. @default 256 */
  readonly perUser: number;
  /** Requests that wait for their answer on one connection. @default 4 */
  readonly perConnection: number;
  /** How long a client without a token may leave unread what it asked for. @default 1 min */
  readonly strangerReads: number;
  /** The same for a user: a pager or a stopped terminal may hold a log for a while. @default 10 min */
  readonly userReads: number;
}

export const usualClientLimits: ClientLimits = {
  connections: 4_096,
  strangers: 256,
  perUser: 256,
  perConnection: 4,
  strangerReads: 60_000,
  userReads: 600_000,
};

/** One connection. */
interface Line {
  /** By a socket that only the owner of the state folder can open. */
  readonly trusted: boolean;
  /** Anyone who showed a valid token on it last. */
  user?: string;
  waiting: number;
  /** What the client had taken when it was last looked at, and for how many looks that has not changed. */
  taken: string;
  still: number;
}

/**
 * Who is connected. Everybody comes from loopback or through a tunnel, so that an address tells nobody apart: a client is a
 * user, and those without a token are strangers, who share a small part of the connections.
 */
export class Clients {
  readonly #limits: ClientLimits;
  readonly #lines = new Map<Socket, Line>();
  /** Oldest first. */
  readonly #strangers = new Set<Socket>();
  readonly #users = new Map<string, Set<Socket>>();
  #looking: NodeJS.Timeout | undefined;

  constructor(limits: ClientLimits) {
    this.#limits = limits;
  }

  connected(socket: Socket, trusted: boolean): void {
    const line: Line = { trusted, waiting: 0, taken: '', still: 0 };
    this.#lines.set(socket, line);
    socket.once('close', () => this.#forget(socket, line));
    this.#looking ??= setInterval(() => this.#cutStalled(), this.#lookEvery).unref();
    if (trusted) return;
    this.#strangers.add(socket);
    const [oldest] = this.#strangers;
    if (this.#strangers.size > this.#limits.strangers) oldest?.destroy();
  }

  /** Whether there is room for a request of this user, or of a stranger, on its connection. */
  admits({ socket }: IncomingMessage, user: string | undefined): boolean {
    const line = this.#lines.get(socket);
    if (line === undefined || line.waiting >= this.#limits.perConnection) return false;
    if (user === undefined || line.user === user) return true;
    if (line.trusted) {
      line.user = user;
      return true;
    }
    const own = this.#users.get(user) ?? new Set();
    if (own.size >= this.#limits.perUser) return false;
    if (line.user !== undefined) this.#users.get(line.user)?.delete(socket);
    line.user = user;
    this.#users.set(user, own.add(socket));
    this.#strangers.delete(socket);
    return true;
  }

  /** A request waits for its answer until the release is called. */
  waits({ socket }: IncomingMessage): () => void {
    const line = this.#lines.get(socket);
    if (line !== undefined) line.waiting++;
    return () => {
      if (line !== undefined) line.waiting--;
    };
  }

  #forget(socket: Socket, { user }: Line): void {
    this.#lines.delete(socket);
    this.#strangers.delete(socket);
    const own = user === undefined ? undefined : this.#users.get(user);
    own?.delete(socket);
    if (user !== undefined && own?.size === 0) this.#users.delete(user);
    if (this.#lines.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  get #lookEvery(): number {
    return Math.min(this.#limits.strangerReads, this.#limits.userReads) / 4;
  }

  /**
   * Anyone who does not read what was sent holds memory here, and a connection to Ray. Looks are counted, not time: while this
   * process was busy, nobody could take anything.
   */
  #cutStalled(): void {
    const { strangerReads, userReads } = this.#limits;
    for (const [socket, line] of this.#lines) {
      const taken = takenBy(socket);
      line.still = socket.writableLength > 0 && taken === line.taken ? line.still + 1 : 0;
      line.taken = taken;
      if (line.still * this.#lookEvery >= (line.user === undefined ? strangerReads : userReads)) socket.destroy();
    }
  }
}

/** Changes with every byte that the system has taken for the client, also in the middle of a large piece. */
function takenBy(socket: Socket): string {
  const { _handle: handle } = socket as unknown as { _handle?: { readonly writeQueueSize?: number } | null };
  return `${socket.bytesWritten - socket.writableLength}/${handle?.writeQueueSize ?? 0}`;
}
