import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { createJson, readJson } from '../../base/files/json-file.ts';
import { readShell, shellCommand, shellProgram } from '../../base/shell/shell-file.ts';
import type { Clock } from '../../base/time/clock.ts';
import { folderOnHead } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { type HeadLook, headLook } from './look.ts';

const taking = readShell(new URL('./lock-take.sh', import.meta.url));
const renewal = readShell(new URL('./lock-renew.sh', import.meta.url));
const release = readShell(new URL('./lock-release.sh', import.meta.url));

/** Seconds after which a lock that was not renewed is nobody's: its holder has died, or lost its way to the head. */
const expiresAfter = 45;
const renewEvery = 10_000;

/** Exit code of the text that takes the lock when another machine holds it. */
const held = 9;

/**
 * Keeps commands of other machines from changing the cluster meanwhile, and looks at its head: one round trip. On one
 * machine the lock of the cluster's folder does that, so that the next command there takes over from one that was killed.
 * `unlock` gives it back. `lost` aborts when another has it, as after a sleep of this machine in which it expired.
 */
export async function lockAndLook(
  cluster: RemoteCluster,
  what: 'up' | 'down',
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly look: HeadLook; readonly lost: AbortSignal; readonly unlock: () => Promise<void> }> {
  const { head, name } = cluster;
  const id = machineId(cluster);
  const lock = folderOnHead(name).files.commandLock;
  const user = `${userInfo().username}@${hostname()}`.replaceAll(/[^\w.@-]/g, '_');
  const mine = { lock, id, who: `'manta ${what}' of ${user}` };
  const look = headLook(name, what === 'up');
  // Where nothing can be written down (a full disk) there is no lock; what must write will say so.
  const take = shellCommand(taking, { ...mine, expires_after: expiresAfter, held_code: held });
  const { stdout } = await head.sh(`${take}\n[ $? != ${held} ] || exit 0\n${look.text}`, { signal });
  const holder = /^held (.*)$/m.exec(stdout)?.[1];
  if (holder !== undefined) throw launcherErrors.BusyElsewhere({ name, holder });

  const taken = /^locked$/m.test(stdout);
  const ending = new AbortController();
  const losing = new AbortController();
  const renewing = (async () => {
    // Without a lock there is none to lose.
    if (!taken) return;
    while (!ending.signal.aborted && !losing.signal.aborted) {
      await clock.sleep(renewEvery, ending.signal).catch(() => {});
      if (ending.signal.aborted) return;
      const said = await head.sh(shellProgram(renewal, mine), { signal: ending.signal }).catch(() => undefined);
      const other = /^lost (.*)$/m.exec(said?.stdout ?? '')?.[1];
      if (other !== undefined) losing.abort(launcherErrors.BusyElsewhere({ name, holder: other || 'another machine' }));
    }
  })();
  const unlock = async (): Promise<void> => {
    ending.abort();
    await renewing;
    // It expires where the head cannot be told.
    await head.sh(shellProgram(release, { lock, id }), { signal: AbortSignal.timeout(5_000) }).catch(() => {});
  };
  return { look: look.read(stdout), lost: losing.signal, unlock };
}

/** By which this machine knows its own locks again. */
function machineId({ folder }: RemoteCluster): string {
  const file = folder.files.machine;
  createJson(file, { id: randomBytes(8).toString('hex') });
  return readJson<{ id: string }>(file)?.id ?? '';
}
