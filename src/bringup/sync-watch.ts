import type { Clock, Duration } from '../base/clock.ts';
import type { Host } from '../base/host.ts';
import { wallClock } from '../base/wall-clock.ts';
import { contentsFingerprint } from './contents.ts';
import type { NodeFiles } from './node.ts';
import { syncFiles } from './sync.ts';

export interface SyncWatchOptions {
  /** Ends the watching; the promise then resolves. */
  readonly signal: AbortSignal;
  readonly into?: string;
  /** Pause between two looks at the files; ten times as long as a look takes where that is more. @default 5 s */
  readonly every?: Duration;
  /** Contents that the host has already; what differs is copied at once. */
  readonly synced?: string;
  readonly onSynced?: (fingerprint: string) => void;
  /** It is tried again, ever more slowly. */
  readonly onFailed?: (why: Error) => void;
  readonly clock?: Clock;
}

const longestPause = 60_000;

/** Copies the files again whenever they have changed, until the signal says stop. */
export async function syncContinuously(host: Host, files: NodeFiles, options: SyncWatchOptions): Promise<void> {
  const { signal, every = 5_000, clock = wallClock, into } = options;
  let synced = options.synced;
  let failures = 0;
  while (!signal.aborted) {
    const begin = performance.now();
    let looking = 0;
    try {
      const now = await contentsFingerprint(files);
      looking = performance.now() - begin;
      if (now !== synced) {
        await syncFiles(host, files, { signal, ...(into === undefined ? {} : { into }) });
        synced = now;
        options.onSynced?.(now);
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      options.onFailed?.(error as Error);
    }
    const pause = Math.max(every, looking * 10) * 2 ** Math.min(failures, 10);
    await clock.sleep(Math.min(pause, Math.max(longestPause, looking * 10)), signal).catch(() => {});
  }
}
