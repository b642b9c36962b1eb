import { linkSync, rmSync, statSync } from 'node:fs';
import type { ProcessIdentity } from '../process.ts';
import { identify, isAlive } from '../process.ts';
import { createLiveJson, readLiveJson } from './json-file.ts';

export interface Lock {
  release(): void;
}

/** Takes a lock that dies with its holder; answers with the live holder when there is one. */
export function takeLock(path: string): { readonly lock: Lock } | { readonly holder: ProcessIdentity } {
  const self = identify(process.pid) as ProcessIdentity;
  for (;;) {
    if (createLiveJson(path, self)) return { lock: { release: () => releaseOwn(path, self) } };
    const holder = readLiveJson<ProcessIdentity>(path);
    if (holder !== undefined && isAlive(holder)) return { holder };
    removeStale(path, holder);
  }
}

/** Longest that somebody may take to remove a stale lock; one who has taken longer is dead too. */
const removingFor = 1_000;
/** Between two looks at a lock that somebody else removes. */
const pause = 20;

/**
 * Removes a lock that was found stale, after another look: somebody may have removed it and taken the lock since. Of all
 * who found this one stale only the one who gives it a second name removes it, and the second name shows what it really is.
 */
export function removeStale(path: string, stale: ProcessIdentity | undefined): void {
  const second = `${path}.${stale?.pid ?? 0}-${encodeURIComponent(stale?.started ?? '')}.stale`;
  try {
    linkSync(path, second);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code !== 'EEXIST') throw error;
    // Its inode has changed last when it got that name.
    const found = statSync(second, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (Math.abs(Date.now() - found.ctimeMs) > removingFor) rmSync(second, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    return;
  }
  const found = readLiveJson<ProcessIdentity>(second);
  // Somebody took this process for dead, and has removed the lock in its place: the one that is there now is another.
  if (!isSameFile(path, second)) {
    rmSync(second, { force: true });
    return;
  }
  if (found?.pid === stale?.pid && found?.started === stale?.started) rmSync(path, { force: true });
  rmSync(second, { force: true });
}

function isSameFile(one: string, other: string): boolean {
  const first = statSync(one, { throwIfNoEntry: false });
  return first !== undefined && first.ino === statSync(other, { throwIfNoEntry: false })?.ino;
}

function releaseOwn(path: string, self: ProcessIdentity): void {
  const holder = readLiveJson<ProcessIdentity>(path);
  if (holder?.pid === self.pid && holder.started === self.started) rmSync(path, { force: true });
}
