/**
 * Environments of one machine, shared by all agents: `<name>/`, `<name>.ready` once it is whole (its time is that of the
 * last use), `<name>.lock` while somebody builds or removes it, and `users/<attempt>~<name>` for each attempt that uses it,
 * which counts while the attempt's agent lives.
 */
import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, syncTree, writeDurably } from '../../../base/files/durable.ts';
import { namesIn, readLiveJson, writeLiveJson } from '../../../base/files/json-file.ts';
import { takeLock } from '../../../base/files/lock.ts';
import { bytesIn, type CacheLimits } from '../../../base/files/prune.ts';
import { identify, isAlive, type ProcessIdentity } from '../../../base/process.ts';
import type { Instant } from '../../../base/time/clock.ts';

const usualLimits: CacheLimits = { keepBytes: 20 * 2 ** 30, keepFor: 7 * 86_400_000 };

const readyOf = (folder: string): string => `${folder}.ready`;
export const lockOf = (folder: string): string => `${folder}.lock`;
const usersIn = (cache: string): string => join(cache, 'users');

export const isReady = (folder: string): boolean => existsSync(readyOf(folder));

/** The environment is whole, and stays so. */
export async function markReady(folder: string, content: string): Promise<void> {
  await syncTree(folder);
  writeDurably(readyOf(folder), JSON.stringify({ content, bytes: await bytesIn(folder) }));
}

export function touchEnvironment(folder: string, now: Instant): void {
  try {
    utimesSync(readyOf(folder), now / 1000, now / 1000);
  } catch (error) {
    // Another agent that prunes takes the mark away for a moment, and puts it back when it sees the user.
    if (!isGone(error)) throw error;
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** From here on it is not removed, until the attempt lets go of it or this agent ends. */
export function useEnvironment(cache: string, name: string, attempt: string): void {
  makeFolder(usersIn(cache));
  writeLiveJson(join(usersIn(cache), `${attempt}~${name}`), identify(process.pid));
}

export function leaveEnvironments(cache: string, attempt: string): void {
  for (const name of namesIn(usersIn(cache)))
    if (name.startsWith(`${attempt}~`)) rmSync(join(usersIn(cache), name), { force: true });
}

/** Removes what the limits do not allow to be kept and no attempt uses. */
export async function pruneEnvironments(cache: string, now: Instant, limits: CacheLimits = usualLimits): Promise<void> {
  const kept = (
    await Promise.all(
      namesIn(cache)
        .filter((file) => file.endsWith('.ready'))
        .map((file) => lookAt(join(cache, file.slice(0, -'.ready'.length)))),
    )
  ).flat();
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { folder, usedAt, bytes } of kept.toSorted((a, b) => a.usedAt - b.usedAt))
    if ((now - usedAt > limits.keepFor || total > limits.keepBytes) && (await removeUnused(cache, folder)))
      total -= bytes;
}

/** Nothing where another agent has removed it in the meantime. */
async function lookAt(folder: string): Promise<{ folder: string; usedAt: Instant; bytes: number }[]> {
  try {
    return [{ folder, usedAt: (await stat(readyOf(folder))).mtimeMs, bytes: await sizeOf(folder) }];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/**
 * Anyone who begins to use it says so before looking whether it is ready: with the mark gone and nobody there after that,
 * everybody who comes later builds it again, and waits for the lock first.
 */
async function removeUnused(cache: string, folder: string): Promise<boolean> {
  if (isUsed(cache, folder)) return false;
  const taken = takeLock(lockOf(folder));
  if (!('lock' in taken)) return false;
  try {
    const ready = readyOf(folder);
    if (!existsSync(ready)) return false;
    const mark = readFileSync(ready, 'utf8');
    const { atime, mtime } = statSync(ready);
    rmSync(ready);
    if (isUsed(cache, folder)) {
      writeDurably(ready, mark);
      utimesSync(ready, atime, mtime);
      return false;
    }
    await rm(folder, { recursive: true, force: true });
    return true;
  } finally {
    taken.lock.release();
  }
}

/** What an agent left that is gone is cleared away on the way. */
function isUsed(cache: string, folder: string): boolean {
  const users = namesIn(usersIn(cache)).filter((name) => join(cache, name.slice(name.lastIndexOf('~') + 1)) === folder);
  const living = users.filter((name) => {
    const file = join(usersIn(cache), name);
    const agent = readLiveJson<ProcessIdentity>(file);
    if (agent !== undefined && isAlive(agent)) return true;
    rmSync(file, { force: true });
    return false;
  });
  return living.length > 0;
}

/** As it was when it was built; those of an earlier Manta do not say. */
async function sizeOf(folder: string): Promise<number> {
  return readLiveJson<{ readonly bytes?: number }>(readyOf(folder))?.bytes ?? (await bytesIn(folder));
}
