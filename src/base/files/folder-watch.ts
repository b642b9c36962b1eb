import { type FSWatcher, mkdirSync, watch } from 'node:fs';

/** Says when something in a folder changes, no matter who changed it. */
export interface FolderWatch {
  /** Grows with every change. */
  readonly changes: number;
  /** Resolves once `changes` is beyond `seen`, when the signal aborts, or after a while to look in any case. */
  next(seen: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Shared {
  readonly watcher: FSWatcher | undefined;
  readonly waiting: Set<() => void>;
  changes: number;
  users: number;
}

/** Where a file system reports no changes (network mounts) or late (macOS), this is how soon they are seen. */
const lookAfter = 500;

const watched = new Map<string, Shared>();

/** Watches a folder, which is made when it is not there. Watches of one folder share one handle. */
export function watchFolder(dir: string): FolderWatch {
  const shared = watched.get(dir) ?? begin(dir);
  shared.users += 1;
  let open = true;
  return {
    get changes() {
      return shared.changes;
    },
    next(seen, signal) {
      if (shared.changes > seen || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          shared.waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, lookAfter);
        shared.waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    },
    close() {
      if (!open) return;
      open = false;
      shared.users -= 1;
      if (shared.users > 0) return;
      shared.watcher?.close();
      watched.delete(dir);
    },
  };
}

function begin(dir: string): Shared {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const changed = (): void => {
    shared.changes += 1;
    for (const wake of [...shared.waiting]) wake();
  };
  const shared: Shared = { watcher: tryWatch(dir, changed), waiting: new Set(), changes: 0, users: 0 };
  watched.set(dir, shared);
  return shared;
}

/** Without a watch (no handles left) readers still look now and then. */
function tryWatch(dir: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(dir, { persistent: false }, changed).on('error', changed);
  } catch {
    return undefined;
  }
}
