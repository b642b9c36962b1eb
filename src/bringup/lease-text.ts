/**
 * The programs behind leases. A worker's folder on its host holds
 *
 *     lease          which boot it is of, until when (by the uptime of the host, which nobody sets), for how long
 *     watchdog       a small sh program that reads it and, when it has lapsed, ends Ray
 *     watchdog.pid   who runs that program
 *     lapsed         when it came to that, by the host's clock
 */

import { shellQuoted } from '../base/shell-quote.ts';
import { nodeFolder, type Place, stepsFolder } from './node.ts';
import { endText } from './ray-end.ts';
import { bashAt } from './shell-text.ts';
import { endText as endStepsText } from './step-text.ts';

export interface LeaseText {
  readonly cluster: string;
  /** In whole seconds. */
  readonly lasts: number;
}

export interface WatchdogText {
  readonly cluster: string;
  /** Where Ray may run there. */
  readonly places: readonly Place[];
  /** The machine goes with its lease. */
  readonly powersOff: boolean;
}

export interface BootText extends LeaseText {
  /** Who logs in, in whose home the lease is going to be. */
  readonly user: string;
}

const time = `born() {
  r=
  if [ -r /proc/self/stat ]; then
    { read -r r <"/proc/$1/stat"; } 2>/dev/null || return 1
    set -- \${r##*) }; r=; [ "$1" != Z ] && r=\${20}
  else r=$(ps -o lstart= -p "$1"); fi
}
boot() { b=; { read -r b </proc/sys/kernel/random/boot_id; } 2>/dev/null; born 1; r=$b/$r; }
uptime() { if { read -r u _ </proc/uptime; } 2>/dev/null; then u=\${u%%.*}; else u=$(date +%s); fi; }
`;

const prelude = `${time}alive() { { IFS='|' read -r at pid since <watchdog.pid; } 2>/dev/null && boot && [ "$at" = "$r" ] && born "$pid" && [ "$since" = "$r" ]; }
stop() {
  alive || return 0
  kill -s TERM -- "-$pid" 2>/dev/null || kill -s TERM "$pid" 2>/dev/null
  n=0; while alive && [ $n -lt 40 ]; do sleep 0.05 2>/dev/null || sleep 1; n=$((n + 1)); [ $n != 20 ] || kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid" 2>/dev/null; done
  ! alive
}
start() {
  if command -v setsid >/dev/null; then leave=setsid; else leave=; trap '' HUP; fi
  $leave /bin/sh ./watchdog </dev/null >/dev/null 2>&1 &
  p=$!; boot; at=$r; born "$p"; echo "$at|$p|$r" >watchdog.pid
}
write() { uptime; boot; echo "$r $((u + $1)) $1" >"lease.$$" && mv "lease.$$" lease; }
`;

const within = (cluster: string): string => `umask 077; cd "$HOME/${nodeFolder(cluster)}" 2>/dev/null`;

/** Sh text that gives a lease and starts its watchdog in place of one that runs. Says nothing, and ends nothing around it. */
export const grantText = (lease: LeaseText, watchdog: WatchdogText): string =>
  `( ${within(lease.cluster)} || exit 0
${prelude}write ${lease.lasts} && printf %s ${shellQuoted(watchdogProgram(watchdog))} >watchdog.new && mv watchdog.new watchdog && rm -f lapsed && stop && start
)
`;

/** Renews a lease, and starts its watchdog again where somebody has ended it. Says `renewed`, `absent` or `failed`. */
export const renewText = ({ cluster, lasts }: LeaseText): string => `${within(cluster)} || { echo absent; exit 0; }
[ -s lease ] && [ -s watchdog ] || { echo absent; exit 0; }
${prelude}write ${lasts} || { echo failed; exit 0; }
alive || start
echo renewed
`;

/** Takes a lease back and ends its watchdog. Names what is still there. */
export const endLeaseText = (cluster: string): string => `${within(cluster)} || exit 0
${prelude}rm -f lease
if stop; then rm -f watchdog watchdog.pid lapsed; else echo "left watchdog (pid $pid)"; fi
exit 0
`;

/** Seconds between two looks. */
const look = 30;

/** A machine that would not go is told again: it costs until it has gone. */
const powerOff = `while :; do
  sync; sudo -n poweroff || poweroff || sudo -n shutdown -h now || shutdown -h now
  sleep 60
done`;

/**
 * Sh text that a machine of a cloud runs as root at its first boot, and that returns at once: the machine switches itself off
 * when nobody has given it a lease in time. With its lease it has its own watchdog, and this one ends.
 */
export const bootText = ({ cluster, user, lasts }: BootText): string => `#!/bin/sh
if command -v setsid >/dev/null; then leave=setsid; else leave=; trap '' HUP; fi
$leave /bin/sh -c ${shellQuoted(bootProgram({ cluster, user, lasts }))} manta-boot </dev/null >/dev/null 2>&1 &
`;

const bootProgram = ({ cluster, user, lasts }: BootText): string => `cd /
${time}user=${shellQuoted(user)}
uptime; until=$((u + ${lasts}))
while :; do
  home=$(getent passwd "$user" 2>/dev/null | cut -d: -f6)
  if { read -r of _ <"\${home:-/home/$user}/${nodeFolder(cluster)}/lease"; } 2>/dev/null && boot && [ "$of" = "$r" ]; then exit 0; fi
  uptime; left=$((until - u))
  [ "$left" -gt 0 ] || break
  [ "$left" -lt ${look} ] || left=${look}
  sleep "$left"
done
${powerOff}
`;

/**
 * Ends with the lease, when that is taken back. A machine that was suspended finds its lease lapsed before anybody could
 * renew it: it waits once more.
 */
function watchdogProgram({ cluster, places, powersOff }: WatchdogText): string {
  const ends = [endStepsText(stepsFolder(cluster)), ...places.map((place) => bashAt(place, endText({ cluster })))];
  return `# manta watchdog of ${cluster.replaceAll(/[^\w.-]/g, '_')}
${prelude}
while { read -r of until lasts <lease; } 2>/dev/null; do
  uptime; boot; [ "$of" = "$r" ] || exit 0
  left=$((until - u))
  [ "$left" -gt 0 ] || break
  [ "$left" -lt ${look} ] || left=${look}
  before=$u; sleep "$left"; uptime
  if [ $((u - before)) -gt $((left + 60)) ]; then wait=$((lasts / 2)); [ "$wait" -lt 300 ] || wait=300; sleep "$wait"; fi
done
[ -e lease ] || exit 0
date +%s >lapsed
for try in 1 2 3; do
${ends.map((text) => `  ( ${text}  )`).join('\n')}
done
rm -f lease
${powersOff ? powerOff : ''}
`;
}
