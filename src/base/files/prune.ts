import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duration, Instant } from '../time/clock.ts';

export interface CacheLimits {
  /** Bytes of all that is kept; the least recently used go first. */
  readonly keepBytes: number;
  /** What nothing has used for so long goes. */
  readonly keepFor: Duration;
}

/** It was used now. */
export const touch = (path: string, now: Instant): Promise<void> => utimes(path, now / 1000, now / 1000);

/**
 * Removes files and folders of a cache that the limits do not allow to be kept, by the time at which they were last touched.
 * What is needed stays, and counts.
 */
export async function pruneFolder(
  folder: string,
  now: Instant,
  { keepBytes, keepFor }: CacheLimits,
  isNeeded: (name: string, usedAt: Instant) => boolean = () => false,
): Promise<void> {
  const kept = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name);
      return { name, path, usedAt: (await stat(path)).mtimeMs, bytes: await bytesIn(path) };
    }),
  );
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, path, usedAt, bytes } of kept.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if ((now - usedAt <= keepFor && total <= keepBytes) || isNeeded(name, usedAt)) continue;
    await rm(path, { recursive: true, force: true });
    total -= bytes;
  }
}

/** Of a file, or of all files in a folder. */
export async function bytesIn(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return found?.size ?? 0;
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}
