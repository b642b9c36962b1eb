import { readFileSync } from 'node:fs';
import type { Clock, Duration } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Host } from '../../base/host.ts';
import { steadyClock } from '../../base/steady-clock.ts';
import { endHost, type HostToEnd } from '../../bringup/end-host.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import type { StateFolder } from '../state-folder.ts';

/** A machine on which something of the cluster is left, or of which nobody knows. */
export interface Left {
  readonly host: string;
  readonly why: string;
}

export interface Cleared {
  /** Those that were ended, by name. */
  readonly ended: readonly string[];
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
  const ended: string[] = [];
  await Promise.all(
    hosts.map(async (host) => {
      try {
        await host.connect({ signal, within: connectWithin });
        const rest = await endHost(host, what, signal);
        if (rest.length > 0) left.push({ host: host.name, why: `still there: ${rest.join(', ')}` });
        else {
          ended.push(host.name);
          done(host);
        }
      } catch (error) {
        signal.throwIfAborted();
        left.push({ host: host.name, why: messageOf(error) });
      }
    }),
  );
  return { ended, left };
}

const endWithin = 120_000;
const lookSoonest = 100;
const lookLatest = 1_000;

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
  { clock: given, kinds = ['worker'], settles = 0 }: InstancesToEnd,
  signal: AbortSignal,
): Promise<Cleared> {
  const clock = steadyClock(given);
  const seen = new Set<string>();
  let there: readonly ProviderInstance[] | undefined;
  let emptySince: number | undefined;
  let why = 'its provider still lists it';
  let pause = lookSoonest;
  for (const until = clock.now() + endWithin + settles; clock.now() < until; pause = Math.min(2 * pause, lookLatest)) {
    try {
      there = (await provider.list(signal)).filter(({ kind }) => kinds.includes(kind));
      for (const { id } of there) seen.add(id);
      emptySince = there.length === 0 ? (emptySince ?? clock.now()) : undefined;
      if (emptySince !== undefined && clock.now() - emptySince >= settles) return { ended: [...seen], left: [] };
      const live = there.filter(({ state }) => state !== 'stopping').map(({ id }) => id);
      if (live.length > 0) await provider.terminate(live, signal);
    } catch (error) {
      signal.throwIfAborted();
      why = messageOf(error);
    }
    await clock.sleep(pause, signal);
  }
  // None was seen for long enough, and then no more was heard: nobody knows.
  if (there === undefined || there.length === 0) throw new Error(why);
  const left = there.map(({ id, address }) => ({ host: address ?? id, why }));
  for (const { id } of there) seen.delete(id);
  return { ended: [...seen], left };
}

/** The public half of the cluster's key, as it stands on the workers. */
export function publicKeyOf({ files }: StateFolder): string | undefined {
  try {
    return readFileSync(`${files.key}.pub`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
