import { renameSync, unlinkSync } from 'node:fs';
import { createLiveJson, readLiveJson } from './json-file.ts';
import type { ProcessIdentity } from './process.ts';
import { identify, isAlive } from './process.ts';

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

/**
 * Moves the stale file aside before it is deleted: of several that found it stale only one moves it, and one that moved
 * a fresh lock by mistake puts it back.
 */
function removeStale(path: string, stale: ProcessIdentity | undefined): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readLiveJson<ProcessIdentity>(aside);
  if (moved !== undefined && isAlive(moved) && moved.pid !== stale?.pid) renameSync(aside, path);
  else unlinkSync(aside);
}

function releaseOwn(path: string, self: ProcessIdentity): void {
  if (readLiveJson<ProcessIdentity>(path)?.pid === self.pid) unlinkSync(path);
}
