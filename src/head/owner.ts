import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventSink } from '../base/events.ts';
import { writeDurably } from '../base/files/durable.ts';
import { jobEvents } from '../jobs/events.ts';
import type { Users } from '../jobs/users/users.ts';
import { owner } from '../state/owner.ts';

const lookEvery = 5_000;

/**
 * Sees to it that the token in the state folder is one of an administrator. Anyone who owns the folder always gets in: revoked,
 * they lose every token and session they had, and the file has a new one; so it is with a file that was deleted, and with a
 * journal that no longer knows it. Returns the release.
 */
export async function keepOwner(
  users: Users,
  events: EventSink,
  tokens: string,
  /** A file that says which token it has to be. */
  given?: string,
): Promise<() => void> {
  const file = join(tokens, owner);
  const look = async (): Promise<void> => {
    const wanted = given === undefined ? undefined : tokenIn(given);
    const token = wanted ?? tokenIn(file);
    const bearer = token === undefined ? undefined : users.byToken(token);
    if (bearer?.name === owner && bearer.admin && token === tokenIn(file)) return;
    const known = users.list().find(({ name }) => name === owner);
    const fresh = bearer?.name === owner && bearer.admin ? token! : await newToken(users, wanted);
    writeDurably(file, `${fresh}\n`);
    if (known !== undefined) events.emit(jobEvents.userOwnerRestored, { user: owner });
  };
  let looking: Promise<void> | undefined;
  const again = (): void => {
    // A full disk is looked at again.
    looking ??= look()
      .catch(() => {})
      .finally(() => (looking = undefined));
  };
  await look();
  const release = users.whileValid(owner, again);
  const timer = setInterval(again, lookEvery).unref();
  return () => {
    release();
    clearInterval(timer);
  };
}

async function newToken(users: Users, token?: string): Promise<string> {
  const known = users.list().find(({ name }) => name === owner);
  if (known?.admin === true && known.revokedAt === undefined) return await users.issue(owner, undefined, token);
  // Somebody has added a plain user under this name.
  if (known !== undefined && known.revokedAt === undefined) await users.revoke(owner);
  return (await users.add(owner, { admin: true, weight: known?.weight ?? 1, token })).token;
}

function tokenIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
