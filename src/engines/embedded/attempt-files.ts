import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLiveJson, makeFolder, namesIn, readLiveJson, writeLiveJson } from '../../base/files/json-file.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { EndCause } from '../../core/jobs/job.ts';
import type { Placement } from '../../core/placement/room.ts';
import type { AttemptOrder } from '../runner.ts';
import { engineNames } from './names.ts';

/** `attempts/<key>/order.json`, by the engine: an attempt that was taken over, and where it was sent. */
export interface OrderRecord {
  readonly format: 1;
  readonly order: AttemptOrder;
  readonly takenAt: Instant;
  /** By instance. Absent while it waits for room. */
  readonly placement?: Placement;
}

/** `attempts/<key>/end.json`: how it ended. Written before anybody is told, and then never changed. */
export interface EndRecord {
  readonly cause: EndCause;
  readonly exitCode?: number;
  readonly message?: string;
  readonly startedAt?: Instant;
  readonly endedAt: Instant;
  readonly logSize: number;
}

/** Folder name of an attempt: its id where that is a safe name, else a digest of it. */
export function attemptKey(id: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,100}$/.test(id)
    ? id
    : `-${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/**
 * The engine's and the agents' common memory of attempts, one folder each. It outlives both, but not a power cut, which
 * ends the attempts too: then they count as lost, and nobody was told otherwise before the journal had it.
 */
export class AttemptFiles {
  readonly root: string;

  constructor(engineFolder: string) {
    // Without links: processes are found by the folder they work in.
    this.root = realpathSync(makeFolder(join(engineFolder, engineNames.attempts)));
  }

  folder(id: string): string {
    return join(this.root, attemptKey(id));
  }

  makeWorkFolder(id: string): string {
    const folder = this.workFolder(id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  workFolder(id: string): string {
    return join(this.folder(id), 'work');
  }

  writeOrder(record: OrderRecord): void {
    writeLiveJson(join(this.#made(record.order.id), 'order.json'), record);
  }

  writeEnd(id: string, end: EndRecord): void {
    writeLiveJson(join(this.#made(id), 'end.json'), end);
  }

  /**
   * Says for good which instance runs an attempt, and returns it: the first that asks. Whatever heads believe, no second
   * agent runs it.
   */
  claim(id: string, instance: string): string {
    const file = join(this.#made(id), 'claim.json');
    return createLiveJson(file, instance) ? instance : (readLiveJson<string>(file) ?? instance);
  }

  end(id: string): EndRecord | undefined {
    return readLiveJson<EndRecord>(join(this.folder(id), 'end.json'));
  }

  /** Everything that was taken over and not forgotten. A folder without a readable order never got its acknowledgement. */
  all(): { readonly record: OrderRecord; readonly end?: EndRecord }[] {
    return namesIn(this.root).flatMap((name) => {
      const record = readLiveJson<OrderRecord>(join(this.root, name, 'order.json'));
      if (!record) {
        rmSync(join(this.root, name), { recursive: true, force: true });
        return [];
      }
      const end = readLiveJson<EndRecord>(join(this.root, name, 'end.json'));
      return [end ? { record, end } : { record }];
    });
  }

  #made(id: string): string {
    const folder = this.folder(id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async remove(id: string): Promise<void> {
    // The order goes first: a folder half removed must not look like an attempt that goes on.
    rmSync(join(this.folder(id), 'order.json'), { force: true });
    await rm(this.folder(id), { recursive: true, force: true });
  }
}
