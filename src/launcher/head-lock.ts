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
 * `unlock` gives it back. `lost` aborts when another has it, as after a sleep of this machine in which it lapsed.
 */
export async function lockAndLook(
  cluster: RemoteCluster,
  what: 'up' | 'down',
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly look: HeadLook; readonly lost: AbortSignal; readonly unlock: () => Promise<void> }> {
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

  const taken = /^locked$/m.test(stdout);
  const ending = new AbortController();
  const losing = new AbortController();
  const renewing = (async () => {
    // Without a lock there is none to lose.
    if (!taken) return;
    while (!ending.signal.aborted && !losing.signal.aborted) {
      await clock.sleep(renewEvery, ending.signal).catch(() => {});
      if (ending.signal.aborted) return;
      const said = await head.sh(renewText(file, id, words), { signal: ending.signal }).catch(() => undefined);
      const other = /^lost (.*)$/m.exec(said?.stdout ?? '')?.[1];
      if (other !== undefined) losing.abort(launcherErrors.BusyElsewhere({ name, holder: other || 'another machine' }));
    }
  })();
  const unlock = async (): Promise<void> => {
    ending.abort();
    await renewing;
    // It lapses where the head cannot be told.
    await head.sh(releaseText(file, id), { signal: AbortSignal.timeout(5_000) }).catch(() => {});
  };
  return { look: look.read(stdout), lost: losing.signal, unlock };
}

/** By which this machine knows its own locks again. */
function machineId({ folder }: RemoteCluster): string {
  const file = join(folder.path, 'machine.json');
  createJson(file, { id: randomBytes(8).toString('hex') });
  return readJson<{ id: string }>(file)?.id ?? '';
}

/**
 * A lock is made whole or not at all. Of several that find a lapsed one only the one that has made `.next` may put its own
 * in its place, and only where it is still the one that was found.
 */
const takeText = (file: string, id: string, words: string): string => `umask 077; cd "$HOME" || exit 1
f=${shellQuoted(file)}; mkdir -p "\${f%/*}" || exit 1
fresh() { id=\${1%% *} who=\${1#* }; at=\${who%% *} who=\${who#* }; [ "$id" != ${id} ] && [ $(($(date +%s) - at)) -lt ${lapsesAfter} ]; }
n=0
while [ $n -lt 20 ]; do
  n=$((n + 1))
  printf '%s\\n' "${words}" >"$f.$$" || exit 1
  if ln "$f.$$" "$f" 2>/dev/null; then rm -f "$f.$$"; echo locked; exit 0; fi
  line=$(cat "$f" 2>/dev/null)
  if [ -n "$line" ] && fresh "$line"; then rm -f "$f.$$"; echo "held $who"; exit ${held}; fi
  if ln "$f.$$" "$f.next" 2>/dev/null; then
    rm -f "$f.$$"
    if [ "$(cat "$f" 2>/dev/null)" = "$line" ] && mv "$f.next" "$f"; then echo locked; exit 0; fi
    rm -f "$f.next"
  else
    rm -f "$f.$$"
    # Whoever made it and died there holds nobody up for long.
    next=$(cat "$f.next" 2>/dev/null); [ -z "$next" ] || fresh "$next" || rm -f "$f.next"
    sleep 0.05 2>/dev/null || sleep 1
  fi
done
next=$(cat "$f.next" 2>/dev/null)
if [ -n "$next" ] && fresh "$next"; then echo "held $who"; exit ${held}; fi
exit 1
`;

const mine = (file: string, id: string): string =>
  `cd "$HOME" || exit 0; f=${shellQuoted(file)}; read -r id rest 2>/dev/null <"$f" && [ "$id" = ${id} ] || exit 0`;

const renewText = (file: string, id: string, words: string): string =>
  `cd "$HOME" || exit 0; f=${shellQuoted(file)}; id= who=; read -r id at who 2>/dev/null <"$f"
[ "$id" = ${id} ] || { echo "lost $who"; exit 0; }
umask 077; printf '%s\\n' "${words}" >"$f.$$" && mv "$f.$$" "$f"
`;

const releaseText = (file: string, id: string): string =>
  `${mine(file, id)}; rm -f "$f"; rmdir "\${f%/*}" 2>/dev/null\n`;
