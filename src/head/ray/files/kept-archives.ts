import { randomBytes } from 'node:crypto';
import { copyFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, moveDurably } from '../../../base/files/durable.ts';
import { type CacheLimits, pruneFolder, touch } from '../../../base/files/prune.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import type { Cargo } from '../../../bringup/sync/carry.ts';

export interface KeptArchivesEdges {
  readonly folder: string;
  readonly clock: Clock;
  /** Names of those that attempts need which are not over. */
  readonly needed: () => ReadonlySet<string>;
  readonly limits?: CacheLimits;
}

const usualLimits: CacheLimits = { keepBytes: 20 * 2 ** 30, keepFor: 7 * 86_400_000 };

/** One that was copied or asked for so recently may be on its way to an attempt, which does not say so yet. */
const settles: Duration = 3_600_000;

/** Packages that are too large for Ray's own store, on the head's disk. Those that attempts need stay, whatever the limits say. */
export class KeptArchives {
  readonly #edges: KeptArchivesEdges;

  constructor(edges: KeptArchivesEdges) {
    this.#edges = edges;
  }

  /** The same name again means the same content. */
  async keep(path: string, name: string): Promise<string> {
    const { folder, clock, needed, limits = usualLimits } = this.#edges;
    const kept = join(makeFolder(folder), name);
    const draft = `${kept}.${randomBytes(4).toString('hex')}.new`;
    try {
      await copyFile(path, draft);
      await moveDurably(draft, kept);
    } finally {
      await rm(draft, { force: true });
    }
    const now = clock.now();
    await touch(kept, now);
    const names = needed();
    await pruneFolder(folder, now, limits, (each, usedAt) => names.has(each) || Math.abs(now - usedAt) < settles);
    return kept;
  }

  /** Where it is, if it is kept; from here on it counts as used. */
  async find(name: string): Promise<string | undefined> {
    const path = join(this.#edges.folder, name);
    return await touch(path, this.#edges.clock.now()).then(
      () => path,
      () => undefined,
    );
  }

  async all(): Promise<readonly Cargo[]> {
    const { folder } = this.#edges;
    const names = (await readdir(folder).catch(() => [])).filter((name) => !name.endsWith('.new'));
    const found = names.map(async (name): Promise<readonly Cargo[]> => {
      const path = join(folder, name);
      // Another job may have had it removed.
      const bytes = await stat(path).then(
        ({ size }) => size,
        () => undefined,
      );
      return bytes === undefined ? [] : [{ path, bytes }];
    });
    return (await Promise.all(found)).flat();
  }
}
