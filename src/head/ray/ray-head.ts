import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { listens } from '../../base/network/listens.ts';
import type { Clock } from '../../base/time/clock.ts';
import { nodeFolder } from '../../bringup/node/node.ts';
import { parseRecord } from '../../bringup/node/record.ts';
import { tokenFile } from '../../bringup/node/shell-text.ts';
import type { RayEngine } from '../../engines/ray/engine.ts';
import { type RayHead, readCluster } from '../../state/cluster-record.ts';
import { stateErrors } from '../../state/errors.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import { headErrors } from '../errors.ts';
import { headEvents } from '../events.ts';

const lookEvery = 1_000;
/** Looks that find nobody at the head's port before Ray counts as gone: a restart by `up` is shorter or says so. */
const looksUntilGone = 4;
/** Ray's node there is looked at less often: that costs the GCS more. */
const looksAtNode = 5;
const nodeLooksUntilGone = 3;
const listensWithin = 600_000;

/** What the launcher wrote down of the head that mantad looks after. */
export function rayHeadOf(folder: StateFolder): RayHead {
  const record = readCluster(folder);
  if (record?.role !== 'head') throw stateErrors.FolderForeign({ folder: folder.path, detail: 'it has no Ray head' });
  return record.ray;
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
  /** Ray's own node on the head: whether it lives, or else whether other nodes work on without it. */
  readonly node: (signal: AbortSignal) => Promise<'alive' | 'gone' | 'gone-and-others-work'>;
}

/** Starts Ray on the head again when it is gone: after a crash of it, or a reboot of the host. */
export async function keepRayHead(keeping: HeadKeeping, signal: AbortSignal): Promise<void> {
  const { clock, events, head } = keeping;
  const node = nodeWatch(keeping);
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
        if (!(await node(signal))) continue;
        await keeping.start(signal);
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

/** A head that was never in the table may be on its way into it. */
export async function headNode(
  engine: Pick<RayEngine, 'nodeTable' | 'stateAsRayHasIt'>,
  signal: AbortSignal,
): Promise<'alive' | 'gone' | 'gone-and-others-work'> {
  const heads = (await engine.nodeTable(signal)).filter((node) => node.head);
  if (heads.length === 0 || heads.some(({ alive }) => alive)) return 'alive';
  // Without what was handed over a moment ago: on such a head, none of that begins.
  const { nodes } = await engine.stateAsRayHasIt(signal);
  const works = nodes.some(({ head, state, idleFor }) => !head && state !== 'dead' && idleFor === 0);
  return works ? 'gone-and-others-work' : 'gone';
}

/**
 * Finds out that Ray's node on the head has ended while its GCS lives: then nothing that runs ends, and nothing new begins. A
 * restart would end what other nodes work on, so it is left until they are done.
 */
function nodeWatch({ cluster, events, head, node }: HeadKeeping): (signal: AbortSignal) => Promise<boolean> {
  let looks = 0;
  let goneLooks = 0;
  return async (signal) => {
    if (++looks % looksAtNode !== 0 || !wasStarted(cluster)) return false;
    const fate = await node(signal).catch(() => 'alive' as const);
    goneLooks = fate === 'alive' ? 0 : goneLooks + 1;
    const { address } = head();
    if (goneLooks === nodeLooksUntilGone) events.emit(headEvents.rayNodeGone, { address });
    if (goneLooks < nodeLooksUntilGone || fate !== 'gone') return false;
    goneLooks = 0;
    events.emit(headEvents.rayGone, { address });
    return true;
  };
}

function wasStarted(cluster: string): boolean {
  try {
    const file = join(homedir(), nodeFolder(cluster), 'record.json');
    return parseRecord(readFileSync(file, 'utf8'))?.start !== undefined;
  } catch {
    return false;
  }
}
