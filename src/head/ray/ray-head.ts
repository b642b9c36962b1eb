import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { listens } from '../../base/listens.ts';
import { nodeFolder } from '../../bringup/node.ts';
import { parseRecord } from '../../bringup/record.ts';
import { tokenFile } from '../../bringup/shell-text.ts';
import { headErrors } from '../errors.ts';
import { headEvents } from '../events.ts';
import { type RayHead, readCluster, type StateFolder } from '../state-folder.ts';

const lookEvery = 1_000;
/** Looks that find nobody at the head's port before Ray counts as gone: a restart by `up` is shorter or says so. */
const looksUntilGone = 4;
const listensWithin = 600_000;

/** What the launcher wrote down of the head that mantad looks after. */
export function rayHeadOf(folder: StateFolder): RayHead {
  const { ray } = readCluster(folder) ?? {};
  if (ray === undefined) throw headErrors.FolderForeign({ folder: folder.path, detail: 'it holds no head of Ray' });
  return ray;
}

/** Ray's own token, which stays on the head and its nodes. */
export function rayToken(cluster: string): string | undefined {
  try {
    return readFileSync(join(homedir(), tokenFile(cluster)), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Resolves when the head's GCS takes connections. */
export async function headListens({ address, gcsPort }: RayHead, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = performance.now() + listensWithin;
  while (!(await listens(address, gcsPort))) {
    if (performance.now() > until)
      throw headErrors.HeadSilent({ address, port: gcsPort, seconds: listensWithin / 1_000 });
    await clock.sleep(50, signal);
  }
}

export interface HeadKeeping {
  readonly cluster: string;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly head: () => RayHead;
  /** Runs the head's start commands again. */
  readonly start: (signal: AbortSignal) => Promise<void>;
}

/** Starts Ray on the head again when it is gone: after a crash of it, or a reboot of the host. */
export async function keepRayHead(keeping: HeadKeeping, signal: AbortSignal): Promise<void> {
  const { clock, events, head } = keeping;
  let missed = 0;
  let pause = lookEvery;
  while (!signal.aborted) {
    await clock.sleep(pause, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const { address, gcsPort } = head();
      if (await listens(address, gcsPort)) {
        missed = 0;
        pause = lookEvery;
        continue;
      }
      missed += 1;
      // A head that was never started, or is being started by `up`, has no start in its record.
      if (missed < looksUntilGone || !wasStarted(keeping.cluster)) continue;
      events.emit(headEvents.rayGone, { address });
      await keeping.start(signal);
      missed = 0;
    } catch (error) {
      if (signal.aborted) return;
      events.emit(headEvents.headTrouble, { detail: messageOf(error) });
      pause = Math.min(pause * 2, 60_000);
    }
  }
}

function wasStarted(cluster: string): boolean {
  try {
    const file = join(homedir(), nodeFolder(cluster), 'record.json');
    return parseRecord(readFileSync(file, 'utf8'))?.start !== undefined;
  } catch {
    return false;
  }
}
