import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Instant } from '../base/clock.ts';
import { type EventSink, silent } from '../base/events.ts';
import type { Database } from '../base/sqlite.ts';
import { jobErrors } from './errors.ts';
import { userEvents } from './user-events.ts';

export interface User {
  readonly name: string;
  /** May act on everybody's jobs and on users. */
  readonly admin: boolean;
  /** Share of the cluster beside others. */
  readonly weight: number;
  readonly createdAt: Instant;
  readonly revokedAt?: Instant;
}

/** Owners of tokens. The journal holds hashes only: a token is shown once, when it is made. */
export interface Users {
  list(): readonly User[];
  /** A new user with a token. */
  add(
    name: string,
    options?: { readonly admin?: boolean; readonly weight?: number },
  ): Promise<{ readonly user: User; readonly token: string }>;
  /** Ends every token and session of the user; their jobs go on. */
  revoke(name: string): Promise<User>;
  /** One more token for a user; `expiresAt` makes it a session that ends by itself. */
  issue(name: string, expiresAt?: Instant): Promise<string>;
  /** The user of a token that is valid now. */
  byToken(token: string): User | undefined;
  /** Calls `end` when the user is revoked: an open stream ends with its permission. Returns the release. */
  whileValid(name: string, end: () => void): () => void;
  /** A word that is good for one exchange within a minute, for a link in a browser; the newest few of a user are. */
  makeTicket(name: string): string;
  /** The session token for a ticket, once. */
  redeemTicket(ticket: string): Promise<string | undefined>;
  weights(): ReadonlyMap<string, number>;
  /** Names of the administrators, revoked ones not among them. */
  admins(): ReadonlySet<string>;
}

const sessionsPerUser = 50;
const ticketsPerUser = 20;
const ticketLife = 60_000;
/** A working day: whoever looks at the page tomorrow signs in again. */
export const sessionLife = 12 * 3_600_000;

export function openUsers(database: Database, clock: Clock, events: EventSink = silent): Users {
  const users = new Map<string, User>();
  const tokens = new Map<string, { user: string; expiresAt?: Instant }>();
  const tickets = new Map<string, { user: string; expiresAt: Instant }>();
  const open = new Map<string, Set<() => void>>();
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
  for (const row of database.prepare('SELECT * FROM tokens ORDER BY seq').iterate()) {
    const expiresAt = row['expires_at'];
    tokens.set(String(row['hash']), {
      user: String(row['user']),
      // Sessions of an earlier Manta lasted longer.
      ...(expiresAt !== null && { expiresAt: Math.min(Number(expiresAt), Number(row['created_at']) + sessionLife) }),
    });
  }

  const find = (name: string): User => {
    const user = users.get(name);
    if (!user || user.revokedAt !== undefined) throw jobErrors.UserNotFound({ user: name });
    return user;
  };
  const insertToken = (hash: string, user: string, expiresAt: Instant | undefined): void => {
    // A revoke of the same moment may stand in the batch before this write, and is not known in memory yet.
    const row = database.prepare('SELECT revoked_at FROM users WHERE name = ?').get(user);
    if (row === undefined || row['revoked_at'] !== null) throw jobErrors.UserNotFound({ user });
    database
      .prepare('INSERT INTO tokens (hash, user, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
      .run(hash, user, expiresAt === undefined ? 'token' : 'session', clock.now(), expiresAt ?? null);
  };

  const issue = async (name: string, expiresAt?: Instant): Promise<string> => {
    const user = find(name);
    const token = newToken();
    const hash = hashOf(token);
    const now = clock.now();
    const gone = [...tokens]
      .filter(([, each]) => each.expiresAt !== undefined && each.expiresAt <= now)
      .map(([old]) => old);
    const sessions = [...tokens]
      .filter(([old, each]) => each.user === name && each.expiresAt !== undefined && !gone.includes(old))
      .map(([old]) => old);
    gone.push(...sessions.slice(0, Math.max(0, sessions.length + 1 - sessionsPerUser)));
    await database.write(() => {
      insertToken(hash, name, expiresAt);
      for (const old of gone) database.prepare('DELETE FROM tokens WHERE hash = ?').run(old);
    });
    for (const old of gone) tokens.delete(old);
    // Revoked after this write, and perhaps added anew: it was a token of the user before.
    if (users.get(name) !== user) throw jobErrors.UserNotFound({ user: name });
    tokens.set(hash, { user: name, ...(expiresAt !== undefined && { expiresAt }) });
    if (expiresAt === undefined) events.emit(userEvents.tokenIssued, { user: name });
    return token;
  };

  return {
    list: () => [...users.values()],
    async add(name, { admin = false, weight = 1 } = {}) {
      if (!/^[a-z0-9_][a-z0-9._@-]{0,63}$/i.test(name))
        throw jobErrors.Invalid({
          field: 'name',
          problem: `'${name.slice(0, 64)}' has to be 1 to 64 letters, digits or any of _ . @ -`,
        });
      if (!Number.isFinite(weight) || weight <= 0 || weight > 1_000)
        throw jobErrors.Invalid({ field: 'weight', problem: `${weight} is not more than 0 and at most 1000` });
      const there = users.get(name);
      if (there && there.revokedAt === undefined) throw jobErrors.UserExists({ user: name });
      const user: User = { name, admin, weight, createdAt: clock.now() };
      const token = newToken();
      const hash = hashOf(token);
      await database.write(() => {
        database
          .prepare(
            'INSERT INTO users (name, admin, weight, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET admin = excluded.admin, weight = excluded.weight, created_at = excluded.created_at, revoked_at = NULL',
          )
          .run(name, admin ? 1 : 0, weight, user.createdAt);
        insertToken(hash, name, undefined);
      });
      users.set(name, user);
      tokens.set(hash, { user: name });
      events.emit(userEvents.added, { user: name, admin });
      return { user, token };
    },
    async revoke(name) {
      const user = find(name);
      const revoked: User = { ...user, revokedAt: clock.now() };
      await database.write(() => {
        // Asked here, where two who revoke each other at one moment come one after the other.
        const others = database
          .prepare('SELECT count(*) AS count FROM users WHERE admin = 1 AND revoked_at IS NULL AND name <> ?')
          .get(name);
        if (user.admin && others?.['count'] === 0) throw jobErrors.LastAdmin({ user: name });
        database.prepare('UPDATE users SET revoked_at = ? WHERE name = ?').run(clock.now(), name);
        database.prepare('DELETE FROM tokens WHERE user = ?').run(name);
      });
      users.set(name, revoked);
      for (const [hash, token] of tokens) if (token.user === name) tokens.delete(hash);
      for (const [ticket, each] of tickets) if (each.user === name) tickets.delete(ticket);
      events.emit(userEvents.revoked, { user: name });
      for (const end of open.get(name) ?? []) end();
      return revoked;
    },
    whileValid(name, end) {
      const ends = open.get(name) ?? new Set();
      open.set(name, ends.add(end));
      return () => void ends.delete(end);
    },
    issue,
    byToken(token) {
      // The lookup is by hash of a random value: its timing says nothing about any token.
      const found = tokens.get(hashOf(token));
      if (!found || (found.expiresAt !== undefined && found.expiresAt <= clock.now())) return undefined;
      const user = users.get(found.user);
      return user && user.revokedAt === undefined ? user : undefined;
    },
    makeTicket(name) {
      find(name);
      const ticket = newToken();
      for (const [old, each] of tickets) if (each.expiresAt <= clock.now()) tickets.delete(old);
      const own = [...tickets].filter(([, each]) => each.user === name);
      for (const [old] of own.slice(0, Math.max(0, own.length + 1 - ticketsPerUser))) tickets.delete(old);
      tickets.set(hashOf(ticket), { user: name, expiresAt: clock.now() + ticketLife });
      return ticket;
    },
    async redeemTicket(ticket) {
      const key = hashOf(ticket);
      const found = tickets.get(key);
      tickets.delete(key);
      if (!found || found.expiresAt <= clock.now()) return undefined;
      return await issue(found.user, clock.now() + sessionLife).catch(ifRevoked);
    },
    weights: () => new Map([...users.values()].map((user) => [user.name, user.weight])),
    admins: () =>
      new Set(
        [...users.values()].filter((user) => user.admin && user.revokedAt === undefined).map((user) => user.name),
      ),
  };
}

/** Whoever is revoked at the moment of signing in is not signed in. */
export function ifRevoked(error: unknown): undefined {
  if (!jobErrors.UserNotFound.is(error)) throw error;
}

const newToken = (): string => randomBytes(32).toString('hex');
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
