import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { Duration } from '../../base/time/clock.ts';
import { flockPrelude } from './flock-prelude.ts';

const program = readShell(new URL('./claim.sh', import.meta.url));

/** Where and for how long hosts are claimed. */
export interface ClaimTerms {
  /** Folder of the claims on each host; every user can write into it. @default /var/tmp/manta-claims */
  readonly folder: string;
  /** A claim that was not renewed for this long has expired. @default 10 minutes */
  readonly lifetime: Duration;
  /** Where the host tells of itself. @default /proc and /dev */
  readonly proc: string;
  readonly devices: string;
}

export const claimTerms: ClaimTerms = {
  folder: '/var/tmp/manta-claims',
  lifetime: 600_000,
  proc: '/proc',
  devices: '/dev',
};

/** Begins each line that is meant for Manta: a login may print lines of its own. */
export const answerMark = 'manta-claim';

/** `clear` gives back whatever the cluster holds, for whichever instance. */
export type ClaimAct = 'claim' | 'renew' | 'release' | 'clear' | 'look';

export interface ClaimOrder {
  readonly act: ClaimAct;
  readonly terms: ClaimTerms;
  /** Of letters, digits, dots and dashes, as is `instance`: they stand in file names and are compared by the shell. */
  readonly clusterId: string;
  readonly instance: string;
  /** For those who find the host taken. */
  readonly note: Readonly<Record<string, string>>;
}

/**
 * The program that claims a host, renews a claim, gives one back, or only looks. One file a user and cluster, in a sticky
 * folder where nobody can touch the files of others; all of it under one lock, which the kernel gives back when its holder
 * dies. Whether a claim has expired is told by the clock of the host that holds it: by its uptime where it has not been
 * booted since, so that a clock that is set does not matter. What has expired is overtaken only where no Ray runs.
 */
export function claimProgram(order: ClaimOrder): string {
  const { act, terms, clusterId, instance, note } = order;
  for (const word of [clusterId, instance])
    if (!/^[\w.-]+$/.test(word)) throw new Error(`'${word}' is not allowed in a claim`);
  return shellProgram(`${flockPrelude}${program}`, {
    act,
    folder: terms.folder,
    proc: terms.proc,
    devices: terms.devices,
    lifetime: Math.max(1, Math.round(terms.lifetime / 1000)),
    cluster: clusterId,
    instance,
    note: JSON.stringify(note).slice(1),
    answer_mark: answerMark,
  });
}
