/**
 * The programs behind leases. A worker's folder on its host holds
 *
 *     lease          which boot it is of, until when (by the uptime of the host, which nobody sets), for how long
 *     watchdog       a small sh program that reads it and, when it has expired, ends Ray
 *     watchdog.pid   who runs that program
 *     lapsed         when it came to that, by the host's clock
 */

import { readShell, shellCommand, shellProgram } from '../../base/shell/shell-file.ts';
import { type CommandPlace, nodeFolder, stepsFolder } from '../node/node.ts';
import { bashAt } from '../node/shell-text.ts';
import { prelude } from '../prelude.ts';
import { endText } from '../ray/end.ts';
import { endText as endStepsText } from '../steps/step-text.ts';

const leases = prelude + readShell(new URL('./lease-prelude.sh', import.meta.url));
const grant = readShell(new URL('./lease-grant.sh', import.meta.url));
const renew = readShell(new URL('./lease-renew.sh', import.meta.url));
const end = readShell(new URL('./lease-end.sh', import.meta.url));
const watchdog = readShell(new URL('./watchdog.sh', import.meta.url));
const bootWatchdog = readShell(new URL('./boot-watchdog.sh', import.meta.url));
const bootStart = readShell(new URL('./boot-start.sh', import.meta.url));
const powerOff = readShell(new URL('./power-off.sh', import.meta.url));

export interface LeaseText {
  readonly cluster: string;
  /** In whole seconds. */
  readonly lasts: number;
}

export interface WatchdogText {
  readonly cluster: string;
  /** Where Ray may run there. */
  readonly places: readonly CommandPlace[];
  /** The machine goes with its lease. */
  readonly powersOff: boolean;
  /** Sh text that ends the machine for good; where it does not, the machine is switched off. */
  readonly endProgram?: string | undefined;
}

export interface BootText extends LeaseText, Pick<WatchdogText, 'endProgram'> {
  /** Who logs in, in whose home the lease is going to be. */
  readonly user: string;
}

/** Sh command that gives a lease and starts its watchdog in place of one that runs. Says nothing. */
export const grantText = ({ cluster, lasts }: LeaseText, dog: WatchdogText): string =>
  `${shellCommand(`${leases}${grant}`, { folder: nodeFolder(cluster), lasts, watchdog: watchdogProgram(dog) })}\n`;

/**
 * Renews a lease, and starts its watchdog again where somebody has ended it. Says `renewed`, `absent` or `failed`; then runs
 * `after`.
 */
export const renewText = ({ cluster, lasts }: LeaseText, after = ''): string =>
  `${shellCommand(`${leases}${renew}`, { folder: nodeFolder(cluster), lasts })}\n${after}`;

/** Takes a lease back and ends its watchdog. Names what is still there. */
export const endLeaseText = (cluster: string): string =>
  shellProgram(`${leases}${end}`, { folder: nodeFolder(cluster) });

/** Seconds between two looks. */
const look = 30;

/**
 * Sh text that a machine of a cloud runs as root at its first boot, and that returns at once: the machine powers itself off
 * when nobody has given it a lease in time. With its lease it has its own watchdog, and this one ends.
 */
export function bootText({ cluster, user, lasts, endProgram = '' }: BootText): string {
  const program = `${prelude}${bootWatchdog}${endProgram}${powerOff}`;
  const parameters = { user, folder: nodeFolder(cluster), lasts, look };
  return `#!/bin/sh\n${shellProgram(bootStart, { watchdog: shellProgram(program, parameters) })}`;
}

/** The name of the cluster in its first line is for those who read it on a host. */
function watchdogProgram({ cluster, places, powersOff, endProgram = '' }: WatchdogText): string {
  const ends = [endStepsText(stepsFolder(cluster)), ...places.map((place) => bashAt(place, endText({ cluster })))];
  const program = `${prelude}${watchdog}${powersOff ? `${endProgram}${powerOff}` : ''}`;
  const name = cluster.replaceAll(/[^\w.-]/g, '_');
  return `# manta watchdog of ${name}\n${shellProgram(program, { look, powers_off: powersOff }, ends)}`;
}
