import { readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { Host } from '../base/host.ts';
import { endHost, type HostToEnd } from '../bringup/end-host.ts';
import type { Provider } from '../providers/provider.ts';
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

/** Ends all workers by their provider, and waits until it lists none of them. */
export async function endInstances(
  provider: Provider,
  clock: Clock,
  signal: AbortSignal,
  kinds: readonly ('head' | 'worker')[] = ['worker'],
): Promise<Cleared> {
  const seen = new Set<string>();
  for (const until = performance.now() + endWithin; ; ) {
    const there = (await provider.list(signal)).filter(({ kind }) => kinds.includes(kind));
    for (const { id } of there) seen.add(id);
    if (there.length === 0) return { hosts: seen.size, left: [] };
    if (performance.now() > until) {
      const why = 'its provider still lists it';
      return { hosts: seen.size - there.length, left: there.map(({ id, address }) => ({ host: address ?? id, why })) };
    }
    await provider.terminate(
      there.map(({ id }) => id),
      signal,
    );
    await clock.sleep(100, signal);
  }
}

/** The public half of the cluster's key, as it stands on the workers. */
export function publicKeyOf({ files }: StateFolder): string | undefined {
  try {
    return readFileSync(`${files.key}.pub`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
