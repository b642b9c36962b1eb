import { existsSync } from 'node:fs';
import { endInstances } from '../../autoscaler/teardown.ts';
import type { EventSink } from '../../base/events.ts';
import { takeLock } from '../../base/files/lock.ts';
import { isAlive, type ProcessIdentity } from '../../base/process.ts';
import type { Clock } from '../../base/time/clock.ts';
import { kindTag, ProcessProvider } from '../../providers/process/provider.ts';
import { changeCluster, readCluster } from '../../state/cluster-record.ts';
import { removePlace } from '../../state/raylet-place.ts';
import { mantadOf, supervisorOf } from '../../state/serving.ts';
import { clearRemains, refuseForeign, removeCluster, type StateFolder } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';

export interface DownRequest {
  readonly folder: StateFolder;
  /** Keep jobs, logs and journal for the next `up`. */
  readonly keepState: boolean;
  readonly clock: Clock;
  readonly events: EventSink;
}

const patience = 30_000;

/**
 * Ends the cluster: first what could launch again, then every instance with its jobs, then what is on disk. Each step
 * may be repeated; a `down` that was killed is completed by the next one. Ends only when no process of it is left.
 */
export async function down(
  request: DownRequest,
  signal: AbortSignal,
): Promise<{ readonly instances: number; readonly wasThere: boolean }> {
  const { folder, clock, events } = request;
  clearRemains(folder);
  if (readCluster(folder) === undefined) {
    removeHalfMade(folder);
    return { instances: 0, wasThere: false };
  }
  const taken = takeLock(folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name: folder.name, pid: taken.holder.pid });
  try {
    changeCluster(folder, (now) => ({ ...now, endingSince: now.endingSince ?? clock.now() }));
    events.emit(launcherEvents.ending, { name: folder.name, what: 'the daemon' }, { id: 'down', state: 'running' });
    await endDaemon(folder, clock, signal);

    events.emit(launcherEvents.ending, { name: folder.name, what: 'the instances' }, { id: 'down', state: 'running' });
    const instances = await endAgents(folder, clock, signal);
    removePlace(folder);
    if (request.keepState) changeCluster(folder, ({ endingSince: _, ...rest }) => rest);
    else removeCluster(folder);
    events.emit(launcherEvents.ended, { name: folder.name, instances }, { id: 'down', state: 'done' });
    return { instances, wasThere: true };
  } finally {
    taken.lock.release();
  }
}

/** What an `up` left that was killed before it had written a record: folders without anything in them. */
function removeHalfMade(folder: StateFolder): void {
  if (!existsSync(folder.path) || existsSync(folder.files.journal)) return;
  refuseForeign(folder);
  const taken = takeLock(folder.files.commandLock);
  if ('lock' in taken) removeCluster(folder);
}

/** Ends what brings mantad back, then mantad. Instances and their jobs go on. */
export async function endDaemon(folder: StateFolder, clock: Clock, signal: AbortSignal): Promise<void> {
  await endProcess(() => supervisorOf(folder), clock, signal);
  await endProcess(() => mantadOf(folder), clock, signal);
}

async function endProcess(find: () => ProcessIdentity | undefined, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = performance.now() + patience;
  let told: ProcessIdentity | undefined;
  for (let found = find(); found !== undefined && isAlive(found); found = find()) {
    if (told === undefined || performance.now() > until) {
      process.kill(found.pid, told === undefined ? 'SIGTERM' : 'SIGKILL');
      told = found;
    }
    await clock.sleep(20, signal);
  }
}

async function endAgents(folder: StateFolder, clock: Clock, signal: AbortSignal): Promise<number> {
  const provider = new ProcessProvider({
    folder: folder.files.instances,
    agent: ['false'],
    typeOf: () => undefined,
    clock,
  });
  const order = { clock, kinds: ['worker', 'head'], within: patience } as const;
  const { ended, left } = await endInstances(provider, order, signal);
  const what = left.map(({ id, tags }) => `${tags[kindTag] ?? 'instance'} ${id}`);
  if (what.length > 0) throw launcherErrors.StillThere({ name: folder.name, what });
  return ended.length;
}
