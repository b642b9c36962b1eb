import { readFileSync } from 'node:fs';
import type { Clock, Duration } from '../base/clock.ts';
import type { Host } from '../base/host.ts';
import { endHost, type HostToEnd } from '../bringup/end-host.ts';
import type { Provider, ProviderInstance } from '../providers/provider.ts';
import type { StateFolder } from './state-folder.ts';

/** A machine on which something of the cluster is left, or of which nobody knows. */
export interface Left {
  readonly host: string;
  readonly why: string;
}

export interface Cleared {
  readonly hosts: number;
  readonly left: readonly Left[];
}

const connectWithin = 20_000;

/** Clears hosts of a cluster, all at once. One that does not answer holds nobody up. */
export async function clearHosts(
  hosts: readonly Host[],
  what: HostToEnd,
  done: (host: Host) => void,
  signal: AbortSignal,
): Promise<Cleared> {
  const left: Left[] = [];
  await Promise.all(
    hosts.map(async (host) => {
      try {
        await host.connect({ signal, within: connectWithin });
        const rest = await endHost(host, what, signal);
        if (rest.length > 0) left.push({ host: host.name, why: `still there: ${rest.join(', ')}` });
        else done(host);
      } catch (error) {
        signal.throwIfAborted();
        left.push({ host: host.name, why: (error as Error).message });
      }
    }),
  );
  return { hosts: hosts.length - left.length, left };
}

const endWithin = 120_000;

export interface InstancesToEnd {
  readonly clock: Clock;
  /** @default workers */
  readonly kinds?: readonly ProviderInstance['kind'][];
  /** None has to be listed for so long before there are none. @default 0 */
  readonly settles?: Duration;
}

/** Ends instances by their provider, and waits until it lists none of them. A call that fails is made again. */
export async function endInstances(
  provider: Provider,
  { clock, kinds = ['worker'], settles = 0 }: InstancesToEnd,
  signal: AbortSignal,
): Promise<Cleared> {
  const seen = new Set<string>();
  let there: readonly ProviderInstance[] | undefined;
  let emptySince: number | undefined;
  let why = 'its provider still lists it';
  for (const until = performance.now() + endWithin; performance.now() < until; await clock.sleep(100, signal)) {
    try {
      there = (await provider.list(signal)).filter(({ kind }) => kinds.includes(kind));
      for (const { id } of there) seen.add(id);
      emptySince = there.length === 0 ? (emptySince ?? performance.now()) : undefined;
      if (emptySince !== undefined && performance.now() - emptySince >= settles) return { hosts: seen.size, left: [] };
      const live = there.filter(({ state }) => state !== 'stopping').map(({ id }) => id);
      if (live.length > 0) await provider.terminate(live, signal);
    } catch (error) {
      signal.throwIfAborted();
      why = (error as Error).message;
    }
  }
  if (there === undefined) throw new Error(why);
  const left = there.map(({ id, address }) => ({ host: address ?? id, why }));
  return { hosts: seen.size - left.length, left };
}

/** The public half of the cluster's key, as it stands on the workers. */
export function publicKeyOf({ files }: StateFolder): string | undefined {
  try {
    return readFileSync(`${files.key}.pub`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
