import type { Host, RunOptions } from '../../base/host.ts';
import type { ProgramHost } from '../../base/one-session.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { bootText, endLeaseText, grantText, renewText } from './lease-text.ts';

/**
 * A node's permission to stay alive. It is given with the node's folder and renewed by the head; when it expires, the host
 * ends Ray by itself.
 */
export interface NodeLease {
  readonly lasts: Duration;
  /** The machine is ended too: for instances of a cloud, never for the user's own hosts. */
  readonly powersOff: boolean;
  /** Sh text that ends the machine for good, for clouds that keep a machine that is only powered off. Absent: it is powered off. */
  readonly endProgram?: string | undefined;
}

/** Sh text that gives the order's lease in the node's folder, which must be there; empty where the order has none. */
export function leaseText({ cluster, lease, commands: { container } }: NodeOrder): string {
  if (lease === undefined) return '';
  const places: CommandPlace[] = [{ kind: 'host' }];
  if (container) places.unshift({ kind: 'container', engine: container.engine, name: container.name });
  const { powersOff, endProgram } = lease;
  return grantText({ cluster, lasts: seconds(lease.lasts) }, { cluster, places, powersOff, endProgram });
}

/** A program for the first boot of a machine of a cloud, as root: without a lease in this time the machine ends itself. */
export const bootWatchdog = (cluster: string, user: string, within: Duration, endProgram?: string): string =>
  bootText({ cluster, user, lasts: seconds(within), endProgram });

/** What else a host is asked on the way: a program, and who hears the lines that it prints after the word `notice`. */
export interface AlsoAsked {
  readonly program: string;
  readonly heard: (said: string) => void;
}

/** One cheap round trip. `absent`: the host has none, as before its bring-up, or once it has expired. */
export async function renewLease(
  host: Host,
  cluster: string,
  lasts: Duration,
  options: RunOptions,
  also?: AlsoAsked,
): Promise<'renewed' | 'absent' | 'failed'> {
  const { stdout } = await host.sh(renewText({ cluster, lasts: seconds(lasts) }, also?.program), options);
  for (const [, said = ''] of stdout.matchAll(/^notice (.*)$/gm)) also?.heard(said);
  const said = /^(renewed|absent)$/m.exec(stdout)?.[1];
  return said === 'renewed' || said === 'absent' ? said : 'failed';
}

/** Takes the lease back, and ends the watchdog. Returns what is still there. */
export async function endLease(host: ProgramHost, cluster: string, options: RunOptions): Promise<readonly string[]> {
  const { stdout } = await host.sh(endLeaseText(cluster), options);
  return [...stdout.matchAll(/^left (.*)$/gm)].map((match) => match[1] as string);
}

const seconds = (duration: Duration): number => Math.max(1, Math.round(duration / 1_000));
