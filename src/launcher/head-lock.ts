import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { createJson, readJson } from '../base/json-file.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { headHome } from '../head/state-folder.ts';
import { launcherErrors } from './errors.ts';
import { type HeadLook, headLook } from './head-look.ts';
import type { RemoteCluster } from './remote-cluster.ts';

/** Seconds after which a lock that was not renewed is nobody's: whoever held it has died, or lost its way to the head. */
const lapsesAfter = 45;
const renewEvery = 10_000;

/** Exit code of the text that takes the lock when another machine holds it. */
const held = 9;

/**
 * Keeps commands of other machines from changing the cluster meanwhile, and looks at its head: one round trip. On one
 * machine the lock of the cluster's folder does that, so that the next command there takes over from one that was killed.
 * `unlock` gives it back.
 */
export async function lockAndLook(
  cluster: RemoteCluster,
  what: 'up' | 'down',
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly look: HeadLook; readonly unlock: () => Promise<void> }> {
  const { head, name } = cluster;
  const id = machineId(cluster);
  const file = `${headHome}/clusters/${name}/command.lock`;
  const who = `${userInfo().username}@${hostname()}`.replaceAll(/[^\w.@-]/g, '_');
  const words = `${id} $(date +%s) 'manta ${what}' of ${who}`;
  const look = headLook(name, what === 'up');
  // Where nothing can be written down (a full disk) there is no lock; what must write will say so.
  const { stdout } = await head.sh(`(\n${takeText(file, id, words)})\n[ $? != ${held} ] || exit 0\n${look.text}`, {
    signal,
  });
  const holder = /^held (.*)$/m.exec(stdout)?.[1];
  if (holder !== undefined) throw launcherErrors.BusyElsewhere({ name, holder });

  const ending = new AbortController();
  const renewing = (async () => {
    while (!ending.signal.aborted) {
      await clock.sleep(renewEvery, ending.signal).catch(() => {});
      if (!ending.signal.aborted) await head.sh(renewText(file, id, words), { signal: ending.signal }).catch(() => {});
    }
  })();
  const unlock = async (): Promise<void> => {
    ending.abort();
    await renewing;
    // It lapses where the head cannot be told.
    await head.sh(releaseText(file, id), { signal: AbortSignal.timeout(5_000) }).catch(() => {});
  };
  return { look: look.read(stdout), unlock };
}

/** By which this machine knows its own locks again. */
function machineId({ folder }: RemoteCluster): string {
  const file = join(folder.path, 'machine.json');
  createJson(file, { id: randomBytes(8).toString('hex') });
  return readJson<{ id: string }>(file)?.id ?? '';
}

/** Of several that find a lapsed lock one moves it away; a lock is made whole or not at all. */
const takeText = (file: string, id: string, words: string): string => `umask 077; cd "$HOME" || exit 1
f=${shellQuoted(file)}; mkdir -p "\${f%/*}" || exit 1
n=0
while [ $n -lt 20 ]; do
  n=$((n + 1))
  printf '%s\\n' "${words}" >"$f.$$" || exit 1
  if ln "$f.$$" "$f" 2>/dev/null; then rm -f "$f.$$"; exit 0; fi
  rm -f "$f.$$"
  read -r id at who 2>/dev/null <"$f" || continue
  if [ "$id" != ${id} ] && [ $(($(date +%s) - at)) -lt ${lapsesAfter} ]; then echo "held $who"; exit ${held}; fi
  mv "$f" "$f.old.$$" 2>/dev/null && rm -f "$f.old.$$"
done
exit 1
`;

const mine = (file: string, id: string): string =>
  `cd "$HOME" || exit 0; f=${shellQuoted(file)}; read -r id rest 2>/dev/null <"$f" && [ "$id" = ${id} ] || exit 0`;

const renewText = (file: string, id: string, words: string): string =>
  `${mine(file, id)}; umask 077; printf '%s\\n' "${words}" >"$f.$$" && mv "$f.$$" "$f"\n`;

const releaseText = (file: string, id: string): string =>
  `${mine(file, id)}; rm -f "$f"; rmdir "\${f%/*}" 2>/dev/null\n`;
