import { readFileSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from '../../base/process.ts';
import { thisHost } from '../../base/this-host.ts';
import type { Instant } from '../../base/time/clock.ts';
import { runningSessions } from '../../bringup/sessions/running-sessions.ts';
import type { Activity } from '../../core/turn-off.ts';
import type { RayEngine } from '../../engines/ray/engine.ts';
import { changeCluster } from '../../state/cluster-record.ts';
import type { StateFolder } from '../../state/state-folder.ts';

/**
 * What lives in a Ray beside the jobs of the queue, and the sessions of users on its head. A standing request for resources
 * is none of it: it holds machines ready, and nothing runs there.
 */
export async function rayActivity(
  engine: RayEngine,
  cluster: string,
  signal: AbortSignal,
): Promise<readonly Activity[]> {
  const { demand } = await engine.state(signal);
  const waiting = demand.tasks.length + demand.gangs.length;
  if (waiting > 0) return [{ kind: 'demand', what: 'kinds of waiting requests', count: waiting }];
  const { drivers, actors, applications } = await engine.otherWork(signal);
  const found: Activity[] = [
    { kind: 'driver', what: named('driver', drivers), count: drivers.length },
    { kind: 'actor', what: named('detached actor', actors), count: actors.length },
    { kind: 'serve', what: named('Serve application', applications), count: applications.length },
  ];
  const busy = found.filter(({ count }) => count > 0);
  if (busy.length > 0) return busy;
  const sessions = await runningSessions(thisHost(), cluster, { signal });
  return sessions === 0 ? [] : [{ kind: 'session', what: sessions === 1 ? 'session' : 'sessions', count: sessions }];
}

const named = (what: string, names: readonly string[]): string =>
  `${what}${names.length === 1 ? '' : 's'}${names[0] === undefined ? '' : ` (${names[0].slice(0, 60)}${names.length > 1 ? ', …' : ''})`}`;

/** As in `launcher/head/lock.ts`: a lock that was not renewed for this long has expired. */
const expiresAfter = 45_000;

/** The command that holds the lock on the cluster: one of this machine, or of another one that came in over SSH. */
export function commandUnderWay({ files }: StateFolder, now: Instant): string | undefined {
  let text: string;
  try {
    text = readFileSync(files.commandLock, 'utf8').trim();
  } catch {
    return undefined;
  }
  if (text.startsWith('{')) {
    try {
      return isAlive(JSON.parse(text) as ProcessIdentity) ? 'command changing the cluster' : undefined;
    } catch {
      return undefined;
    }
  }
  const [, at = '0', ...who] = text.split(' ');
  return now - Number(at) * 1_000 < expiresAfter ? who.join(' ') || 'command changing the cluster' : undefined;
}

/**
 * Writes down that the cluster is on its way to its end. False when a command holds it: each of both says first what it is
 * about to do and looks at the other then, so that never both go on.
 */
export function beginTurnOff(folder: StateFolder, why: string, now: Instant): boolean {
  changeCluster(folder, (record) => ({ ...record, turningOff: { since: now, why } }));
  if (commandUnderWay(folder, now) === undefined) return true;
  changeCluster(folder, ({ turningOff: _, ...record }) => record);
  return false;
}
