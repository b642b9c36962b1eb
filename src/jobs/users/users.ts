import { createHash, randomBytes } from 'node:crypto';
import { type EventSink, silent } from '../../base/events.ts';
import type { Database } from '../../base/sqlite/sqlite.ts';
import type { Clock, Instant } from '../../base/time/clock.ts';
import { jobErrors } from '../errors.ts';
import { jobEvents } from '../events.ts';

export interface User {
  readonly name: string;
  /** May act on everybody's jobs and on users. */
  readonly admin: boolean;
  /** Share of the cluster beside others. */
  readonly weight: number;
  readonly createdAt: Instant;
  readonly revokedAt?: Instant;
}

const sessionsPerUser = 50;
const ticketsPerUser = 20;
const ticketLife = 60_000;
/** A working day: anyone who looks at the page tomorrow signs in again. */
export const sessionLife = 12 * 3_600_000;

interface Token {
  readonly user: string;
  readonly expiresAt?: Instant;
}

/** Owners of tokens. The journal holds hashes only: a token is shown once, when it is made. */
export class Users {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #events: EventSink;
  readonly #users: Map<string, User>;
  readonly #tokens: Map<string, Token>;
  readonly #tickets = new Map<string, Required<Token>>();
  readonly #open = new Map<string, Set<() => void>>();

  constructor(database: Database, clock: Clock, events: EventSink = silent) {
    this.#database = database;
    this.#clock = clock;
    this.#events = events;
    this.#users = readUsers(database);
    this.#tokens = readTokens(database);
  }

  list(): readonly User[] {
    return [...this.#users.values()];
  }

  /** A new user with a token. */
  async add(
    name: string,
    {
      admin = false,
      weight = 1,
      token = newToken(),
    }: { readonly admin?: boolean; readonly weight?: number; readonly token?: string | undefined } = {},
  ): Promise<{ readonly user: User; readonly token: string }> {
    checkUser(name, weight);
    const there = this.#users.get(name);
    if (there && there.revokedAt === undefined) throw jobErrors.UserExists({ user: name });
    const user: User = { name, admin, weight, createdAt: this.#clock.now() };
    const hash = hashOf(token);
    await this.#database.write(() => {
      this.#database
        .prepare(
          'INSERT INTO users (name, admin, weight, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET admin = excluded.admin, weight = excluded.weight, created_at = excluded.created_at, revoked_at = NULL',
        )
        .run(name, admin ? 1 : 0, weight, user.createdAt);
      this.#insertToken(hash, name, undefined);
    });
    this.#users.set(name, user);
    this.#tokens.set(hash, { user: name });
    this.#events.emit(jobEvents.userAdded, { user: name, admin });
    return { user, token };
  }

  /** Ends every token and session of the user; their jobs go on. */
  async revoke(name: string): Promise<User> {
    const user = this.#find(name);
    const revoked: User = { ...user, revokedAt: this.#clock.now() };
    const database = this.#database;
    await database.write(() => {
      // Asked here, where two who revoke each other at one moment come one after the other.
      const others = database
        .prepare('SELECT count(*) AS count FROM users WHERE admin = 1 AND revoked_at IS NULL AND name <> ?')
        .get(name);
      if (user.admin && others?.['count'] === 0) throw jobErrors.LastAdmin({ user: name });
      database.prepare('UPDATE users SET revoked_at = ? WHERE name = ?').run(this.#clock.now(), name);
      database.prepare('DELETE FROM tokens WHERE user = ?').run(name);
    });
    this.#users.set(name, revoked);
    for (const [hash, token] of this.#tokens) if (token.user === name) this.#tokens.delete(hash);
    for (const [ticket, each] of this.#tickets) if (each.user === name) this.#tickets.delete(ticket);
    this.#events.emit(jobEvents.userRevoked, { user: name });
    for (const end of this.#open.get(name) ?? []) end();
    return revoked;
  }

  /** One more token for a user; `expiresAt` makes it a session that ends by itself. */
  async issue(name: string, expiresAt?: Instant, token = newToken()): Promise<string> {
    const user = this.#find(name);
    const hash = hashOf(token);
    const gone = this.#sessionsToDrop(name);
    await this.#database.write(() => {
      this.#insertToken(hash, name, expiresAt);
      for (const old of gone) this.#database.prepare('DELETE FROM tokens WHERE hash = ?').run(old);
    });
    for (const old of gone) this.#tokens.delete(old);
    // Revoked after this write, and perhaps added again: it was a token of the user before.
    if (this.#users.get(name) !== user) throw jobErrors.UserNotFound({ user: name });
    this.#tokens.set(hash, { user: name, ...(expiresAt !== undefined && { expiresAt }) });
    if (expiresAt === undefined) this.#events.emit(jobEvents.userTokenIssued, { user: name });
    return token;
  }

  /** The user of a token that is valid now. */
  byToken(token: string): User | undefined {
    // The lookup is by hash of a random value: its timing says nothing about any token.
    const found = this.#tokens.get(hashOf(token));
    if (!found || (found.expiresAt !== undefined && found.expiresAt <= this.#clock.now())) return undefined;
    const user = this.#users.get(found.user);
    return user && user.revokedAt === undefined ? user : undefined;
  }

  /** Calls `end` when the user is revoked: an open stream ends with its permission. Returns the release. */
  whileValid(name: string, end: () => void): () => void {
    const ends = this.#open.get(name) ?? new Set();
    this.#open.set(name, ends.add(end));
    return () => void ends.delete(end);
  }

  /** A word that is good for one exchange within a minute, for a link in a browser; the newest few of a user are. */
  makeTicket(name: string): string {
    this.#find(name);
    const tickets = this.#tickets;
    const ticket = newToken();
    for (const [old, each] of tickets) if (each.expiresAt <= this.#clock.now()) tickets.delete(old);
    const own = [...tickets].filter(([, each]) => each.user === name);
    for (const [old] of own.slice(0, Math.max(0, own.length + 1 - ticketsPerUser))) tickets.delete(old);
    tickets.set(hashOf(ticket), { user: name, expiresAt: this.#clock.now() + ticketLife });
    return ticket;
  }

  /** The session token for a ticket, once. */
  async redeemTicket(ticket: string): Promise<string | undefined> {
    const key = hashOf(ticket);
    const found = this.#tickets.get(key);
    this.#tickets.delete(key);
    if (!found || found.expiresAt <= this.#clock.now()) return undefined;
    return await this.issue(found.user, this.#clock.now() + sessionLife).catch(ifRevoked);
  }

  weights(): ReadonlyMap<string, number> {
    return new Map(this.list().map((user) => [user.name, user.weight]));
  }

  /** Names of the administrators, revoked ones not among them. */
  admins(): ReadonlySet<string> {
    return new Set(
      this.list()
        .filter((user) => user.admin && user.revokedAt === undefined)
        .map((user) => user.name),
    );
  }

  #find(name: string): User {
    const user = this.#users.get(name);
    if (!user || user.revokedAt !== undefined) throw jobErrors.UserNotFound({ user: name });
    return user;
  }

  #insertToken(hash: string, user: string, expiresAt: Instant | undefined): void {
    // A revoke of the same moment may stand in the batch before this write, and is not known in memory yet.
    const row = this.#database.prepare('SELECT revoked_at FROM users WHERE name = ?').get(user);
    if (row === undefined || row['revoked_at'] !== null) throw jobErrors.UserNotFound({ user });
    this.#database
      .prepare('INSERT INTO tokens (hash, user, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
      .run(hash, user, expiresAt === undefined ? 'token' : 'session', this.#clock.now(), expiresAt ?? null);
  }

  /** Sessions that have ended, and the oldest of the user's beyond what one may have. */
  #sessionsToDrop(name: string): readonly string[] {
    const now = this.#clock.now();
    const gone = [...this.#tokens]
      .filter(([, each]) => each.expiresAt !== undefined && each.expiresAt <= now)
      .map(([old]) => old);
    const sessions = [...this.#tokens]
      .filter(([old, each]) => each.user === name && each.expiresAt !== undefined && !gone.includes(old))
      .map(([old]) => old);
    return [...gone, ...sessions.slice(0, Math.max(0, sessions.length + 1 - sessionsPerUser))];
  }
}

function readUsers(database: Database): Map<string, User> {
  const users = new Map<string, User>();
  for (const row of database.prepare('SELECT * FROM users ORDER BY seq').iterate()) {
    const revokedAt = row['revoked_at'];
    users.set(String(row['name']), {
      name: String(row['name']),
      admin: row['admin'] === 1,
      weight: Number(row['weight']),
      createdAt: Number(row['created_at']),
      ...(revokedAt !== null && { revokedAt: Number(revokedAt) }),
    });
  }
  return users;
}

function readTokens(database: Database): Map<string, Token> {
  const tokens = new Map<string, Token>();
  for (const row of database.prepare('SELECT * FROM tokens ORDER BY seq').iterate()) {
    const expiresAt = row['expires_at'];
    tokens.set(String(row['hash']), {
      user: String(row['user']),
      // Sessions of an earlier Manta lasted longer.
      ...(expiresAt !== null && { expiresAt: Math.min(Number(expiresAt), Number(row['created_at']) + sessionLife) }),
    });
  }
  return tokens;
}

function checkUser(name: string, weight: number): void {
  if (!/^[a-z0-9_][a-z0-9._@-]{0,63}$/i.test(name))
    throw jobErrors.Invalid({
      field: 'name',
      problem: `'${name.slice(0, 64)}' must be 1 to 64 letters, digits or any of _ . @ -`,
    });
  if (!Number.isFinite(weight) || weight <= 0 || weight > 1_000)
    throw jobErrors.Invalid({ field: 'weight', problem: `${weight} is not above 0 and at most 1000` });
}

/** Anyone who is revoked at the moment of signing in is not signed in. */
export function ifRevoked(error: unknown): undefined {
  if (!jobErrors.UserNotFound.is(error)) throw error;
}

const newToken = (): string => randomBytes(32).toString('hex');
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
